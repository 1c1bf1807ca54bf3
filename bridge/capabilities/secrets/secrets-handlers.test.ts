import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { secretsPort } from '#shared/ports/secrets-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { FakeBridge, createCapability } from '../../../tests/support/fake-bridge.ts';
import { LogRing } from '../../log-ring.ts';
import { createSecretsHandlers } from './secrets-handlers.ts';
import { NO_KEEPER } from '../../processes/process-keeper.ts';

let home: string;
let path: string;
let lines: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'perch-secrets-'));
  path = join(home, 'secrets.env');
  lines = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const ring = new LogRing();

/** The response to a host that requests these names. */
function resolve(names: string[], env: NodeJS.ProcessEnv = {}, fileOnly = false) {
  const handlers = createSecretsHandlers({
    home,
    env,
    fileOnly,
    hide: (values) => ring.hide(values),
    log: (line) => void lines.push(line),
    keeper: NO_KEEPER,
  });
  return new FakeBridge(createCapability(secretsPort, handlers)).call(secretsPort, 'secrets.resolve', { names });
}

const write = (text: string, mode = 0o600): void => writeFileSync(path, text, { mode });

verifies('secrets/places', 'reads the environment first, then the file, and only the requested names', async () => {
  write(
    '# keys\nexport BOTH=of-the-file\nFILE = "quoted # not a comment" # a comment\nSINGLE=\'it is\'\nPLAIN=a=b#c # d\nEMPTY=\nOTHER=never\n',
  );
  const env = { BOTH: 'of-the-environment', ENV: 'e', EMPTY: '', UNASKED: 'u' };
  const names = ['BOTH', 'FILE', 'SINGLE', 'PLAIN', 'ENV', 'EMPTY', 'MISSING', 'toString', '__proto__'];
  expect(await resolve(names, env)).toEqual({
    values: { BOTH: 'of-the-environment', FILE: 'quoted # not a comment', SINGLE: 'it is', PLAIN: 'a=b#c', ENV: 'e' },
    ...{ file: path, problem: null },
  });
  expect(lines).toEqual([]);
});

verifies('secrets/own', 'names of Perch’s own are never found, however they are written', async () => {
  write('PERCH_TOKEN=f\nperch_password=f\n');
  const env = { PERCH_TOKEN: 't', PERCH_PASSWORD: 'p', Perch_Token: 'x' };
  expect((await resolve(['PERCH_TOKEN', 'PERCH_PASSWORD', 'perch_password', 'Perch_Token'], env)).values).toEqual({});
});

verifies('secrets/hidden', 'returned secrets appear in no log of the bridge', async () => {
  write('KEY=a-very-plain-value\n');
  await resolve(['KEY']);
  ring.write('asked with a-very-plain-value');
  expect(ring.read({ ring: '', limit: 1, level: 'debug' }).lines[0]?.message).toBe('asked with ***');
});

verifies('secrets/file-refused', 'a file that is unreadable or readable by others is not used, and the reason is logged once', async () => {
  const handlers = createSecretsHandlers({
    home,
    env: { ENV: 'e' },
    hide: () => {},
    log: (line) => void lines.push(line),
    keeper: NO_KEEPER,
  });
  const asking = new FakeBridge(createCapability(secretsPort, handlers));
  const resolveSecrets = () => asking.call(secretsPort, 'secrets.resolve', { names: ['KEY', 'ENV'] });
  write('KEY=k\n');
  if (process.platform !== 'win32') {
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(path, mode);
      const { values, problem } = await resolveSecrets();
      expect(values).toEqual({ ENV: 'e' });
      expect(problem).toContain(`mode ${mode.toString(8)}`);
      expect(problem).toContain('chmod 600');
    }
    await resolveSecrets();
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^Warning: .*secrets\.env is ignored: /);
  }
  chmodSync(path, 0o600);
  expect(await resolveSecrets()).toMatchObject({ values: { KEY: 'k' }, problem: null });
  for (const [text, says] of [
    ['KEY=k\nno entry with a-secret-in-it\n', 'line 2 is not NAME=value'],
    ['KEY="never ends\n', 'line 1 is not NAME=value'],
    ['9KEY=k\n', 'line 1 is not NAME=value'],
    [`KEY=${'x'.repeat(1024 * 1024)}\n`, 'it is larger than 1048576 bytes'],
  ] as const) {
    write(text);
    expect(await resolveSecrets()).toMatchObject({ values: { ENV: 'e' }, problem: says });
  }
  rmSync(path);
  mkdirSync(path);
  expect(await resolveSecrets()).toMatchObject({ values: { ENV: 'e' }, problem: expect.stringContaining('not a regular file') });
  rmSync(path, { recursive: true, maxRetries: 20, retryDelay: 50 });
  if (process.platform !== 'win32') {
    execFileSync('mkfifo', ['-m', '600', path]);
    expect(await resolveSecrets()).toMatchObject({ values: { ENV: 'e' }, problem: 'it is not a regular file' });
  }
  expect(asking.faults).toEqual([]);
});

verifies('vaults/walls', 'a vault beside the home’s own has the secrets of its own file, and none of the environment', async () => {
  write('BOTH=of-the-file\n');
  const { values } = await resolve(['BOTH', 'ENV'], { BOTH: 'of-the-environment', ENV: 'e' }, true);
  expect(values).toEqual({ BOTH: 'of-the-file' });
});
