import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { getLinkCommand } from './link-command.ts';

verifies('cli/open', 'the app shows the command that finds the bridge it is of', () => {
  expect(getLinkCommand({ port: '7333' })).toBe('perch open');
  expect(getLinkCommand({ port: '40439' })).toBe('perch open --port 40439');
});
