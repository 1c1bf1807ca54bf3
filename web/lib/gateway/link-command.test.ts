import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { linkCommand } from './link-command.ts';

verifies('cli/open', 'the app shows the command that finds the bridge it is of', () => {
  expect(linkCommand({ port: '7333' })).toBe('perch open');
  expect(linkCommand({ port: '40439' })).toBe('perch open --port 40439');
});
