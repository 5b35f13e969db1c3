"""Compare forecasts of series with trend and season with those of statsmodels.

Monthly means of co2 (with gaps), yearly sunspots (square roots), quarterly unemployment and log
product of macrodata, and the monthly numbers of airline passengers (logs). Models are fitted to the
first 70 % of a series; forecasts of one season (of ten steps for sunspots) begin at every third
later step, given the series up to there. Columns: the mean absolute error, and the coverage of
intervals of 90 %. States of `HDPHMMLT` keep the parameters of the one fit; exponential smoothing
(additive trend and season) has new parameters at each beginning, and gaps filled by interpolation.
The seasonal naive forecast is the value a season ago, with normal intervals of its past errors.

    python benchmarks/forecasts.py --sets co2 airline

needs statsmodels.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from report import print_header, print_table

from skdp.sequence import HDPHMMLT, AutoregressiveEmission

SHARE, EVERY, NORMAL = 0.7, 3, 1.6448536269514722


def read_co2():
    from statsmodels.datasets import co2

    return co2.load_pandas().data["co2"].resample("MS").mean().to_numpy()


def read_sunspots():
    from statsmodels.datasets import sunspots

    return np.sqrt(sunspots.load_pandas().data["SUNACTIVITY"].to_numpy(dtype=float))


def read_macrodata(column):
    from statsmodels.datasets import macrodata

    return macrodata.load_pandas().data[column].to_numpy(dtype=float)


def read_airline():
    from statsmodels.tsa.statespace.tests.results.results_sarimax import air2_data

    return np.log(np.array(air2_data, dtype=float))


SETS = {  # series, season (1: none), steps ahead
    "co2": (read_co2, 12, 12),
    "airline": (read_airline, 12, 12),
    "sunspots": (read_sunspots, 1, 10),
    "unemployment": (lambda: read_macrodata("unemp"), 4, 4),
    "product": (lambda: np.log(read_macrodata("realgdp")), 4, 4),
}


def emissions(season):
    """Return emissions by name; "d" marks those of differences."""
    all_lags = season + 1 if season > 1 else 9
    yield "default (Gaussian states)", "gaussian", False
    yield "1 lag", AutoregressiveEmission(1), False
    yield f"{all_lags} lags", AutoregressiveEmission(all_lags), False
    yield f"{all_lags} lags, trend", AutoregressiveEmission(all_lags, trend="ct"), False
    if season > 1:
        for chosen in ([1, season], [1, season, season + 1]):
            yield f"lags {chosen}", AutoregressiveEmission(chosen), False
    yield f"differences, {all_lags - 1} lags", AutoregressiveEmission(all_lags - 1), True


def forecast_states(series, starts, ahead, emission, differ, seed):
    """Return means and bounds, (n, ahead) each, of forecasts that begin at some steps."""
    n_train = starts[0]
    values = np.diff(series, prepend=np.nan) if differ else series
    values = values[differ:]
    model = HDPHMMLT(10, emission=emission, stickiness="auto", random_state=seed)
    model.fit(values[: n_train - differ, np.newaxis])
    past = [values[: t - differ, np.newaxis] for t in starts]
    if not differ:
        found = model.forecast(past, ahead, (0.05, 0.95))
        return np.array(found.mean)[:, :, 0], np.array(found.quantiles)[:, :, 0]
    panel, _ = model.sample(ahead, 2000, given=past, random_state=seed)
    paths = panel.values.reshape(len(starts), 2000, ahead).cumsum(axis=2)
    level = np.array([series[:t][~np.isnan(series[:t])][-1] for t in starts])
    paths += level[:, np.newaxis, np.newaxis]
    return paths.mean(axis=1), np.moveaxis(np.quantile(paths, (0.05, 0.95), axis=1), 0, 2)


def forecast_smoothing(series, starts, ahead, season):
    """Return the forecasts of exponential smoothing, fitted at each beginning."""
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    means, bounds = [], []
    for t in starts:
        past = pd.Series(interpolate(series[:t]))
        kind = {"seasonal": "add", "seasonal_periods": season} if season > 1 else {}
        fit = ETSModel(past, trend="add", damped_trend=season == 1, **kind).fit(disp=False)
        found = fit.get_prediction(start=t, end=t + ahead - 1, random_state=0).summary_frame(0.1)
        means.append(found["mean"].to_numpy())
        bounds.append(found[["pi_lower", "pi_upper"]].to_numpy())
    return np.array(means), np.array(bounds)


def forecast_naive(series, starts, ahead, season):
    """Return the values a season ago, and intervals by the past errors."""
    means, bounds = [], []
    for t in starts:
        past = interpolate(series[:t])
        h = np.arange(ahead)
        mean = past[t - season + h % season]
        deviation = np.std(past[season:] - past[:-season]) * np.sqrt(h // season + 1.0)
        means.append(mean)
        bounds.append(mean[:, np.newaxis] + NORMAL * np.outer(deviation, [-1.0, 1.0]))
    return np.array(means), np.array(bounds)


def interpolate(series):
    """Return the series with gaps filled linearly."""
    seen = np.flatnonzero(~np.isnan(series))
    return np.interp(np.arange(len(series)), seen, series[seen])


def judge(truth, means, bounds):
    """Return the mean absolute error and the coverage over all observed steps."""
    seen = ~np.isnan(truth)
    inside = (truth >= bounds[..., 0]) & (truth <= bounds[..., 1])
    return np.abs(truth - means)[seen].mean(), inside[seen].mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    print_header()
    for name in options.sets:
        read, season, ahead = SETS[name]
        series = read()
        starts = np.arange(int(SHARE * len(series)), len(series) - ahead + 1, EVERY)
        truth = np.array([series[t : t + ahead] for t in starts])
        print(f"\n{name}: {len(series)} steps, {len(starts)} forecasts of {ahead} steps\n")
        print_table(["model", "error", "coverage", "CPU s"], [])
        for label, emission, differ in emissions(season):
            begin, figures = time.process_time(), []
            for seed in range(options.seeds):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of levels outside of all states
                    found = forecast_states(series, starts, ahead, emission, differ, seed)
                figures.append(judge(truth, *found))
            print_row(
                label, np.mean(figures, axis=0), (time.process_time() - begin) / options.seeds
            )
        for label, f in (("smoothing", forecast_smoothing), ("seasonal naive", forecast_naive)):
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of optimizers
                figures = judge(truth, *f(series, starts, ahead, season))
            print_row(label, figures, time.process_time() - begin)


def print_row(label, figures, seconds):
    """Print a row of a Markdown table."""
    print(f"| {label} | {figures[0]:.3g} | {figures[1]:.2f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
