import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createUnattendedOptions } from '../headless/launch-options.ts';
import { Home } from '../home-directory.ts';
import { runProgram } from '../capabilities/system/run-program.ts';
import { storeToken, getRunningToken, takeTokenFromEnv } from './owner-token.ts';

const PORT = 7333;

test('the token of a gateway that was killed is not taken for that of the next one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'perch-token-'));
  try {
    const home = await Home.open({ dir });
    const killed = await storeToken(home, PORT, 'a token that was given');
    expect(await getRunningToken(home, PORT, undefined)).toBe('a token that was given');
    if (process.platform !== 'win32') expect(statSync(killed.file).mode & 0o777).toBe(0o600);
    const next = await storeToken(home, PORT, undefined);
    expect(await getRunningToken(home, PORT, undefined)).toBe(await home.token());
    expect(next).toMatchObject({ value: await home.token(), file: home.tokenFile });
    await next.forget();
    expect(statSync(home.tokenFile).size).toBeGreaterThan(0);
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
});

verifies(
  'secrets/environment',
  'given tokens are removed from the environment at start, and browsers inherit nothing of Perch',
  async () => {
    process.env.PERCH_TOKEN = 'a token that was given';
    process.env.PERCH_PASSWORD = 'a password that was given';
    expect(createUnattendedOptions('/a/browser', []).env).toMatchObject({ PATH: process.env.PATH });
    expect(JSON.stringify(createUnattendedOptions('/a/browser', []))).not.toContain('that was given');
    expect(takeTokenFromEnv()).toBe('a token that was given');
    expect(takeTokenFromEnv()).toBeUndefined();
    const { stdout } = await runProgram(process.execPath, ['-p', 'JSON.stringify(process.env)'], { timeout: 10_000 });
    expect(stdout).toContain('PATH');
    expect(stdout).not.toContain('that was given');
  },
);
