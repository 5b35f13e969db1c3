"""Wrong patches of checkpoints."""

from mutation.mutation import Mutation

CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"

MUTATIONS = [
    Mutation(
        "checkpoints-older-parts-go-first",
        "callback/_checkpoint.py",
        "            write_checked(self.path, content, header.encode())\n",
        "            files.keep(content.parts)\n"
        "            write_checked(self.path, content, header.encode())\n",
        "Files of the last checkpoint are removed once there is another.",
        f"{CHECKPOINTS}::TestFiles::test_a_full_disk[all but one]",
    ),
]
