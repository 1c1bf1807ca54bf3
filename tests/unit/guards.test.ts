import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyPatch } from '../guards/guard.ts';
import { GUARDS } from '../guards/guard-list.ts';

const root = join(import.meta.dirname, '../..');

describe('guards that `npm run test:guards` disables', () => {
  for (const guard of GUARDS)
    it(`${guard.name}: the patch applies once, and its test is there`, () => {
      expect(applyPatch(guard, root)).toContain(guard.replace);
      expect(existsSync(join(root, guard.test))).toBe(true);
    });

  it('have names of their own', () => {
    expect(new Set(GUARDS.map(({ name }) => name)).size).toBe(GUARDS.length);
  });
});
