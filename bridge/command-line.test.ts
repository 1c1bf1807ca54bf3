import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../tests/requirements.ts';
import { createProgram } from './cli/program.ts';
import { toCommandLine, toStartCommand } from './command-line.ts';
import { packageRoot } from './package-root.ts';

verifies('cli/errors', 'commands are named as they can be typed, in a checkout and where Perch is installed', () => {
  expect([toCommandLine('open'), toStartCommand(), toStartCommand(7400)]).toEqual([
    'npm run -s perch -- open',
    'npm start',
    'npm start -- --port 7400',
  ]);
  expect([toCommandLine('open', false), toStartCommand(7333, false), toStartCommand(7400, false)]).toEqual([
    'perch open',
    'perch gateway run',
    'perch gateway run --port 7400',
  ]);
});

verifies(
  ['cli/open', 'doctor/cli'],
  'the README names the commands for a second browser and for faults, and none that there is not',
  () => {
    const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
    const named = [...readme.matchAll(/^perch ([a-z]+)/gm)].map(([, name]) => name);
    const known = createProgram().commands.map((command) => command.name());
    expect(known).toEqual(expect.arrayContaining(named));
    expect(named).toEqual(expect.arrayContaining(['open', 'doctor', 'token', 'backup']));
    expect(readme).not.toContain('npm run -s perch');
  },
);
