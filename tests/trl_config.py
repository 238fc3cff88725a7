"""What TRL's own GRPOTrainer is told in the tests of every room."""


def small_config(folder, **changes):
    """A GRPOConfig: on the CPU, two prompts of four completions an update, nothing stored."""
    from trl import GRPOConfig

    settings = dict(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
        max_steps=1,
        per_device_train_batch_size=8,
        num_generations=4,
        learning_rate=1e-3,
        seed=0,
    )
    return GRPOConfig(**(settings | changes))
