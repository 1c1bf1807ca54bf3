import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const SUITE_PATH = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const TIMEOUT_MS = 60_000;

const SCENARIOS = [
  ...['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'],
  ...['auth/metadata-default', 'auth/metadata-var1', 'auth/metadata-var2', 'auth/metadata-var3'],
  ...['auth/scope-from-www-authenticate', 'auth/scope-from-scopes-supported', 'auth/scope-omitted-when-undefined'],
  ...['auth/scope-step-up', 'auth/scope-retry-limit', 'auth/offline-access-scope', 'auth/offline-access-not-supported'],
  ...['auth/token-endpoint-auth-basic', 'auth/token-endpoint-auth-post', 'auth/token-endpoint-auth-none'],
  ...['auth/pre-registration', 'auth/resource-mismatch', 'auth/2025-03-26-oauth-endpoint-fallback'],
];

/**
 * Scenarios that fail, with the missing checks and the reason. Scenarios of extensions (`client-credentials-*`, `cross-app-access-*`) are
 * for clients without a person.
 */
const KNOWN_FAILURES: readonly [scenario: string, said: RegExp, why: string][] = [
  [
    'auth/basic-cimd',
    /cimd-client-id-used.*WARNING/,
    'a gateway on this machine has no address on the web for a document about itself; it registers instead',
  ],
  [
    'auth/2025-03-26-oauth-metadata-backcompat',
    /Issuer mismatch/,
    'its document names another issuer than the one that it was asked for: RFC 8414, section 3.3, says not to use it',
  ],
];

async function runScenario(scenario: string): Promise<string> {
  const client = `"${process.execPath}" "${join(ROOT, 'tests/support/mcp-conformance-client.ts')}"`;
  // The suite exits with 1 if a check fails.
  const output = await promisify(execFile)(process.execPath, [SUITE_PATH, 'client', '--command', client, '--scenario', scenario]).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  return stripVTControlCharacters(output.stdout + output.stderr);
}

for (const scenario of SCENARIOS) {
  verifies(
    'mcp/conformance',
    `the official suite: ${scenario}`,
    async () => expect(await runScenario(scenario)).toContain('OVERALL: PASSED'),
    TIMEOUT_MS,
  );
}

for (const [scenario, expectedOutput, why] of KNOWN_FAILURES) {
  verifies(
    'mcp/conformance',
    `the official suite, not met: ${scenario}: ${why}`,
    async () => {
      const output = await runScenario(scenario);
      expect(output).toContain('OVERALL: FAILED');
      expect(output).toMatch(expectedOutput);
    },
    TIMEOUT_MS,
  );
}
