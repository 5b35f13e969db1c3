"""Table models: samplers of STM, SequentialLDA and AdaptiveTopicModel."""
