import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { makeProgram } from './program.ts';

verifies('cli/errors', 'a free port is for a gateway that starts: one that runs is asked for at its own', async () => {
  const commands = makeProgram().commands;
  for (const name of ['open', 'doctor']) {
    expect(commands.find((command) => command.name() === name)?.helpInformation()).not.toContain('takes a free one');
    await expect(makeProgram().parseAsync([name, '--port', '0'], { from: 'user' })).rejects.toThrow(/It must be 1 to 65535/);
  }
});
