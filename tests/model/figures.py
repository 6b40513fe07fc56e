"""figures - rates, means and percentiles with 95 % intervals, for small samples; no assumption on how they are distributed but for rates."""
import math
import random

Z = 1.959964  # of the normal distribution, two-sided 95 %


def rate(k, n):
    """(share, low, high) by Wilson's score interval."""
    if n == 0:
        return None
    centre, spread = k / n + Z * Z / (2 * n), Z * math.sqrt(k / n * (1 - k / n) / n + Z * Z / (4 * n * n))
    return k / n, max(0.0, (centre - spread) / (1 + Z * Z / n)), min(1.0, (centre + spread) / (1 + Z * Z / n))


def mean(values, n_samples=2000):
    """(mean, low, high) by the percentile bootstrap; the same values always give the same interval."""
    if not values:
        return None
    chance = random.Random(1)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(n_samples))
    return sum(values) / len(values), means[n_samples // 40], means[n_samples - 1 - n_samples // 40]


def percentile(values, p=0.95):
    """(value, low, high) by order statistics: how many of n values lie below the true percentile is binomial(n, p). `high` is
    None where even the largest value lies below it with more than 2.5 % probability (p95: under 72 values)."""
    if not values:
        return None
    values, n = sorted(values), len(values)
    at_most, low, high = 0.0, 0, None  # P(at most k values lie below)
    for k in range(n):
        at_most += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        if at_most <= 0.025:
            low = k
        elif at_most >= 0.975 and high is None:
            high = values[k]
    return values[max(0, math.ceil(p * n) - 1)], values[low], high
