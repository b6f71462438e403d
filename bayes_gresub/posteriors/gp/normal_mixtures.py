"""The Gumbel and the logistic law as mixtures of normal ones: what is integrated against them has then a closed form.

A softmax is the probability that one of several numbers, each with its own standard Gumbel noise, is the largest; with
two of them, that a logistic noise is below their difference. Rows are weight, mean and deviation, found by least
squares (tests/posteriors/make_noise_mixtures.py). Distribution functions are within 5e-5 (Gumbel) and 1e-7 (logistic).
"""

GUMBEL = (
    (0.0199859181659, -1.23159754477, 0.358312843845),
    (0.100212616363, -0.76370873176, 0.42937853759),
    (0.214000544781, -0.250503469993, 0.518248556368),
    (0.269149123834, 0.340992158995, 0.635743641418),
    (0.223281682366, 1.053305218, 0.797600257639),
    (0.124688410056, 1.94963282415, 1.03179239242),
    (0.0427450040129, 3.12951309765, 1.39751100607),
    (0.00593670042161, 4.74015849072, 2.06640574373),
)
LOGISTIC = (
    (0.0045970299929, 0, 0.749433046147),
    (0.0550751873065, 0, 0.960485214394),
    (0.144291864958, 0, 1.18381561724),
    (0.248335950489, 0, 1.43455917473),
    (0.303996359704, 0, 1.80026953881),
    (0.189719417573, 0, 2.32122861835),
    (0.0507436194907, 0, 3.02408145049),
    (0.00324057048657, 0, 3.99323894233),
)
