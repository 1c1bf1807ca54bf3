import { test, type TestContext } from 'vitest';
import { annotate } from './requirements/annotate.ts';
import { app } from './requirements/app.ts';
import { bridge } from './requirements/bridge.ts';
import { drawings } from './requirements/drawings.ts';
import { drivenBrowser } from './requirements/browser.ts';
import { canvas } from './requirements/canvas.ts';
import { capabilities } from './requirements/capabilities.ts';
import { channels } from './requirements/channels.ts';
import { chat } from './requirements/chat.ts';
import { cli } from './requirements/cli.ts';
import { compaction } from './requirements/compaction.ts';
import { configFile } from './requirements/config-file.ts';
import { filesMirror } from './requirements/files-mirror.ts';
import { discovery } from './requirements/discovery.ts';
import { desktopCapture } from './requirements/desktop.ts';
import { devices } from './requirements/devices.ts';
import { cron } from './requirements/cron.ts';
import { dreaming } from './requirements/dreaming.ts';
import { icons } from './requirements/icons.ts';
import { incognito } from './requirements/incognito.ts';
import { interfaceTables } from './requirements/interface.ts';
import { keys } from './requirements/keys.ts';
import { mcp } from './requirements/mcp.ts';
import { oauth } from './requirements/oauth.ts';
import { operations } from './requirements/operations.ts';
import { mcpServer } from './requirements/mcp-server.ts';
import { localModels } from './requirements/local-models.ts';
import { memory } from './requirements/memory.ts';
import { memoryBrowser } from './requirements/memory-browser.ts';
import { logs } from './requirements/logs.ts';
import { exec } from './requirements/exec.ts';
import { protocol } from './requirements/protocol.ts';
import { reading } from './requirements/reading.ts';
import { recall } from './requirements/recall.ts';
import { media } from './requirements/media.ts';
import { responses } from './requirements/responses.ts';
import { secrets } from './requirements/secrets.ts';
import { service } from './requirements/service.ts';
import { search } from './requirements/search.ts';
import { smallWork } from './requirements/small-work.ts';
import { providers } from './requirements/providers.ts';
import { cluster } from './requirements/cluster.ts';
import { vault } from './requirements/vault.ts';
import { vaults } from './requirements/vaults.ts';
import { wiki } from './requirements/wiki.ts';
import { wikiGateway } from './requirements/wiki-gateway.ts';
import { workbench } from './requirements/workbench.ts';
import type { Requirement, Section } from './requirements/requirement.ts';

type IdOf<S> = S extends Section<infer Id> ? Id : never;
const sections = [
  ...protocol,
  ...interfaceTables,
  ...chat,
  ...incognito,
  ...smallWork,
  ...bridge,
  ...app,
  ...annotate,
  ...vault,
  ...operations,
  ...vaults,
  ...cluster,
  ...canvas,
  ...drawings,
  ...capabilities,
  ...channels,
  ...configFile,
  ...filesMirror,
  ...icons,
  ...mcp,
  ...mcpServer,
  ...oauth,
  ...wiki,
  ...wikiGateway,
  ...workbench,
  ...desktopCapture,
  ...devices,
  ...compaction,
  ...cron,
  ...reading,
  ...keys,
  ...responses,
  ...media,
  ...localModels,
  ...logs,
  ...memory,
  ...memoryBrowser,
  ...dreaming,
  ...recall,
  ...exec,
  ...search,
  ...providers,
  ...drivenBrowser,
  ...discovery,
  ...service,
  ...secrets,
  ...cli,
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
  run: (context: TestContext) => void | Promise<void>,
  timeout?: number,
): void {
  test(`${[ids].flat().join(', ')}: ${name}`, run, timeout);
}
