import { test } from 'vitest';
import { app } from './requirements/app.ts';
import { bridge } from './requirements/bridge.ts';
import { drivenBrowser } from './requirements/browser.ts';
import { capabilities } from './requirements/capabilities.ts';
import { channels } from './requirements/channels.ts';
import { chat } from './requirements/chat.ts';
import { configFile } from './requirements/config-file.ts';
import { devices } from './requirements/devices.ts';
import { cron } from './requirements/cron.ts';
import { interfaceTables } from './requirements/interface.ts';
import { keys } from './requirements/keys.ts';
import { logs } from './requirements/logs.ts';
import { exec } from './requirements/exec.ts';
import { protocol } from './requirements/protocol.ts';
import { reading } from './requirements/reading.ts';
import { responses } from './requirements/responses.ts';
import { search } from './requirements/search.ts';
import { providers } from './requirements/providers.ts';
import { vault } from './requirements/vault.ts';
import { workbench } from './requirements/workbench.ts';
import type { Requirement, Section } from './requirements/requirement.ts';

type IdOf<S> = S extends Section<infer Id> ? Id : never;
const sections = [
  ...protocol,
  ...interfaceTables,
  ...chat,
  ...bridge,
  ...app,
  ...vault,
  ...capabilities,
  ...channels,
  ...configFile,
  ...workbench,
  ...devices,
  ...cron,
  ...reading,
  ...keys,
  ...responses,
  ...logs,
  ...exec,
  ...search,
  ...providers,
  ...drivenBrowser,
];

/** An id that a test may cite. */
export type RequirementId = IdOf<(typeof sections)[number]>;

/** Everything promised so far; `tests/unit/requirements.test.ts` lists what no test verifies. */
export const requirements: readonly Requirement[] = sections.flatMap(({ origin, texts }) =>
  Object.entries<string>(texts).map(([id, text]) => ({ id, text, ...origin })),
);

/**
 * A test that proves a requirement, or several at once: `verifies('chat.abort/keeps-partial', 'while a tool runs', async () => …)`.
 * Write the ids as literals: the coverage test reads them from the source. `timeout` in milliseconds.
 */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  name: string,
  run: () => void | Promise<void>,
  timeout?: number,
): void {
  test(`${[ids].flat().join(', ')}: ${name}`, run, timeout);
}
