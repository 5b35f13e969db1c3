"""
Eaten with spices, seen with spots
==================================

One eats fish with spices, but sees fish with spots: the attachment of a phrase depends on words. A
model of the events that generate a tree gives the probability of each of two trees.
"""

# %%
# Trees
# -----
#
# The small treebank contains phrases with "with" that attach to the verb or to the noun.

import matplotlib.pyplot as plt
import numpy as np

from skdp.context import HDPBackoffClassifier, LexicalizedEventModel, extract_events
from skdp.grammar import ParseTree
from skdp.inspection import ParseTreeDisplay

to_noun = "(S (NP (PRP {})) (VP (VBD {}) (NP (NP (NN {})) (PP (IN with) (NP (NNS {}))))))"
to_verb = "(S (NP (PRP {})) (VP (VBD {}) (NP (NN {})) (PP (IN with) (NP (NNS {})))))"
words = {to_noun: ("saw", "spots stripes"), to_verb: ("ate", "friends spices")}
trees = [
    form.format(who, verb, what, last)
    for form, (verb, lasts) in words.items()
    for who in ("he", "she", "they")
    for what in ("fish", "meat")
    for last in lasts.split()
]
print(f"{len(trees)} trees, such as {trees[0]}")

# %%
# Events and probabilities
# ------------------------
#
# Each node results from decisions in context; each kind of decision has its own classifier, which
# backs off from words to tags.

events = extract_events(trees, "mod1")
print(f"{len(events.y)} modifiers, in contexts of {events.feature_names}")
classifier = HDPBackoffClassifier(max_iter=50, random_state=0)
model = LexicalizedEventModel(classifier).fit(trees)
differences = {}
for verb, last in [("ate", "spices"), ("saw", "spots")]:
    parses = [form.format("she", verb, "fish", last) for form in (to_noun, to_verb)]
    noun, of_verb = model.score_samples(parses)
    name = f"she {verb} fish with {last}"
    differences[name] = of_verb - noun
    print(f"{name}: {differences[name]:+.2f} nats for the verb")

# %%
# The picture
# -----------
#
# The bars are positive if the phrase attaches to the verb. Below are the two trees. The verb
# decides: the head of "with spots" is "with", so the attachment of the phrase is chosen before its
# noun, and "she ate fish with spots" has the same odds as with spices.

figure, (above, below) = plt.subplots(
    2, figsize=(10, 6), height_ratios=[0.6, 2.4], layout="constrained"
)
values = np.array(list(differences.values()))
above.barh(list(differences), values, color=np.where(values > 0, "#0072B2", "#E69F00"))
above.axvline(0, color="black", linewidth=0.8)
above.invert_yaxis()
above.set_xlabel("log odds: to the verb (right), to the noun (left)")
ParseTreeDisplay(
    [ParseTree.from_brackets(form.format("she", "…", "fish", "spots")) for form in words],
    names=["to the noun", "to the verb"],
).plot(below)
figure.savefig("attachment.png", dpi=100)
