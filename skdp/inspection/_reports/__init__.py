"""Reports of fitted models as HTML pages without external parts."""
