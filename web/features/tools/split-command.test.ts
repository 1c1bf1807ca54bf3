import { expect, it } from 'vitest';
import { splitCommand } from './split-command.ts';

it.each([
  ['npx -y @scope/server /home/me', ['npx', '-y', '@scope/server', '/home/me']],
  ['  run  "a b" \'c "d"\'  "e \\"f\\" \\\\" ', ['run', 'a b', 'c "d"', 'e "f" \\']],
  ['C:\\tools\\x.exe --flag=1', ['C:\\tools\\x.exe', '--flag=1']],
  ['', []],
  ['run "open', null],
  ["run 'open", null],
])('parts %s', (line, words) => expect(splitCommand(line)).toEqual(words));
