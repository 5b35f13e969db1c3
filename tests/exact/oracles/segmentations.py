"""Cuts of documents of two topics, by enumeration of all cuts and topics, in plain Python.

A part of a document has n_1 and n_2 words of the two topics, n in all. With its shares integrated
out, and the shares (m, 1 - m) of its document, m ~ Beta(alpha_1, alpha_2), by quadrature:

    p(z, cuts) = prod_d E_m[ prod_parts (b m)_n1 (b (1 - m))_n2 / (b)_n ] rho^cuts (1 - rho)^joins,

where (x)_n is a rising factorial: a polynomial in m, for which Gauss's rule is exact. There are no
tables. Then p(w | z) with Dirichlet priors of the words.
"""

from itertools import product
from math import lgamma, prod

import numpy as np
from exact.oracles.hdp_topics import word_factor
from exact.oracles.quadrature import beta_quadrature
from exact.oracles.segmented import rising


def divisions(n_units, known=None, most=None):
    """Yield all cuts of a document as tuples of its gaps: 1 is a cut."""
    for cuts in product((0, 1), repeat=max(n_units - 1, 0)):
        if known is not None and any(k not in (-1, c) for k, c in zip(known, cuts, strict=True)):
            continue
        lengths = [len(run) + 1 for run in "".join(map(str, cuts)).split("1")]
        if most is None or max(lengths) <= most:
            yield cuts


def parts_of(document, topics, cuts):
    """Return the topics of the words of each part; `topics` are by unit."""
    parts = [[]]
    for u in range(len(document)):
        if u > 0 and cuts[u - 1]:
            parts.append([])
        parts[-1] += topics[u]
    return parts


def evidence_of_parts(parts, mu, b):
    """Return the probability of the topics of parts given the shares of the document."""
    return prod(
        prod(rising(b * share, part.count(k)) for k, share in enumerate(mu)) / rising(b, len(part))
        for part in parts
    )


def given_topics(document, phi, alpha, b, rho):
    """Return means for one document given the word probabilities (2, W) of the topics.

    Returns
    -------
    dict
        Means of "cuts", of "share" (m) and of "of units" (the share of the first topic in the part
        of each unit).
    """
    flat = [w for unit in document for w in unit]
    nodes = list(zip(*beta_quadrature(*alpha), strict=True))
    total, sums = 0.0, {"cuts": 0.0, "share": 0.0, "of units": 0.0}
    for labels in product((0, 1), repeat=len(flat)):
        words = prod(phi[k][w] for k, w in zip(labels, flat, strict=True))
        (topics,) = split_by_units([document], labels)
        for cuts in divisions(len(document)):
            parts = parts_of(document, topics, cuts)
            part_of = np.concatenate([[0], np.cumsum(cuts)]).astype(int)
            prior = rho ** sum(cuts) * (1.0 - rho) ** (len(cuts) - sum(cuts))
            for m, w in nodes:
                weight = words * prior * w * evidence_of_parts(parts, (m, 1.0 - m), b)
                shares = np.array([(b * m + part.count(0)) / (b + len(part)) for part in parts])
                total += weight
                sums["cuts"] = sums["cuts"] + weight * np.array(cuts)
                sums["share"] += weight * m
                sums["of units"] = sums["of units"] + weight * shares[part_of]
    return {name: value / total for name, value in sums.items()}


def posterior(documents, n_words, alpha, eta, b, cut_prior, known=None, most=None, seeds=()):
    """Return the posterior of cuts and topics.

    Parameters
    ----------
    documents : lists of units of word ids
    alpha : (float, float)
    b : float, or list of (value, weight)
    cut_prior : (p, q)
        Of the probability of a cut, which is drawn once.
    known : list by document of tuples, or None
    seeds : (2, n_words) list of pseudo-counts that are added to `eta`, or nothing

    Returns
    -------
    dict
        Means of "cuts" (one entry a gap), "together" (pairs of words), "shares" (m by document),
        "rho" and "b".
    """
    p, q = cut_prior
    flat = [[w for unit in document for w in unit] for document in documents]
    n = sum(map(len, flat))
    nodes = list(zip(*beta_quadrature(*alpha), strict=True))
    choices = [
        list(divisions(len(document), None if known is None else known[d], most))
        for d, document in enumerate(documents)
    ]
    total, sums = 0.0, {"cuts": 0.0, "together": 0.0, "shares": 0.0, "rho": 0.0, "b": 0.0}
    values = [(b, 1.0)] if isinstance(b, float) else b
    for labels in product((0, 1), repeat=n):
        words = word_factor_of_two(flat, labels, eta, n_words, seeds)
        by_unit = split_by_units(documents, labels)
        together = np.equal.outer(labels, labels)
        for b_value, b_weight in values:
            of_documents = []
            for document, topics, every in zip(documents, by_unit, choices, strict=True):
                found = []
                for cuts in every:
                    parts = parts_of(document, topics, cuts)
                    terms = [
                        (w * evidence_of_parts(parts, (m, 1.0 - m), b_value), m) for m, w in nodes
                    ]
                    found.append((cuts, sum(t for t, _ in terms), sum(t * m for t, m in terms)))
                of_documents.append(found)
            for chosen in product(*of_documents):
                cuts = [c for found in chosen for c in found[0]]
                n_cuts, n_gaps = sum(cuts), len(cuts)
                weight = words * b_weight * prod(found[1] for found in chosen)
                weight *= np.exp(log_beta(p + n_cuts, q + n_gaps - n_cuts) - log_beta(p, q))
                total += weight
                sums["cuts"] = sums["cuts"] + weight * np.array(cuts)
                sums["together"] = sums["together"] + weight * together
                sums["shares"] = sums["shares"] + weight * np.array(
                    [found[2] / found[1] for found in chosen]
                )
                sums["rho"] += weight * (p + n_cuts) / (p + q + n_gaps)
                sums["b"] += weight * b_value
    return {name: value / total for name, value in sums.items()}


def word_factor_of_two(flat, labels, eta, n_words, seeds=()):
    """Return p(w | z) of two topics, one of which may have no words."""
    if len(seeds):
        return word_factor(flat, labels, eta, n_words, seeds)
    names = {k: i for i, k in enumerate(dict.fromkeys(labels))}
    return word_factor(flat, [names[k] for k in labels], eta, n_words)


def split_by_units(documents, labels):
    """Return the topics of words by document and unit."""
    place, result = 0, []
    for document in documents:
        units = []
        for unit in document:
            units.append(list(labels[place : place + len(unit)]))
            place += len(unit)
        result.append(units)
    return result


def log_beta(x, y):
    return lgamma(x) + lgamma(y) - lgamma(x + y)
