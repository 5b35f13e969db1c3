"""Models whose segments have tables: samplers of STM, SequentialLDA, AdaptiveTopicModel."""
