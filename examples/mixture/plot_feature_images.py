"""
What are these images made of?
==============================

Each of a hundred small images is a sum of some of four glyphs with strong noise. The number of
glyphs is not given, and hardly any image shows a single glyph. Latent features with the prior of an
Indian buffet find the glyphs, assign them to images, and fill in missing pixels.
"""

# %%
# Images with missing pixels
# --------------------------
#
# We hide a fifth of all pixels. The fit accepts NaN directly. Centering is not needed: pixels
# without a glyph are 0 except for noise.

import matplotlib.pyplot as plt
import numpy as np

from skdp.datasets import make_feature_images
from skdp.mixture import IBPLatentFeatures

images = make_feature_images(100, noise_scale=0.5, random_state=0)
hidden = np.random.default_rng(0).random(images.data.shape) < 0.2
X = np.where(hidden, np.nan, images.data)
model = IBPLatentFeatures(center=False, random_state=0).fit(X)

# %%
# How many features?
# ------------------
#
# A feature of a single image costs little and explains some of its noise, so such features come and
# go. `feature_probabilities_` identifies the features that matter.

print("P(K):", dict(enumerate(model.n_components_distribution_.round(2).tolist())))
print("shares:", model.feature_probabilities_.round(2))
truth = images.features @ images.glyphs
error = np.sqrt(np.mean((model.impute(X) - truth)[hidden] ** 2))
print(f"error of missing pixels: {error:.2f}, of seen ones: {0.5:.2f}")

# %%
# The features as images
# ----------------------
#
# The top row shows the glyphs, and the second row the weights of the features found, each with its
# share of the images. The other rows show four images and their reconstructions: sums of the
# features, weighted by the probabilities that the image has them.

places = [np.argmin(((model.components_ - g) ** 2).sum(axis=1)) for g in images.glyphs]
shares = model.transform(X)
rebuilt = model.inverse_transform(shares)

fig, axes = plt.subplots(4, 4, figsize=(7, 7.6), layout="constrained")
rows = [
    ("glyph", images.glyphs, None),
    ("found", model.components_[places], model.feature_probabilities_[places]),
    ("image", X[:4], None),
    ("its parts", rebuilt[:4], None),
]
for row, (name, pictures, numbers) in zip(axes, rows, strict=True):
    for k, (ax, picture) in enumerate(zip(row, pictures, strict=True)):
        ax.imshow(np.ma.masked_invalid(picture.reshape(6, 6)), cmap="gray", vmin=-0.6, vmax=1.6)
        ax.set_facecolor("#56b4e9")  # missing pixels
        ax.set(xticks=[], yticks=[])
        title = f"{name} {k + 1}"
        if numbers is not None:
            title += f", in {numbers[k]:.0%}"
        elif name == "its parts":
            parts = [str(j + 1) for j in range(4) if shares[k, places[j]] > 0.5]
            title = "glyphs " + ", ".join(parts) if parts else "none"
        ax.set_title(title, fontsize=9)

plt.show()
