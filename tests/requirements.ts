import { test, type TestContext } from 'vitest';
import { annotate } from './requirements/annotate-requirements.ts';
import { app } from './requirements/app-requirements.ts';
import { bridge } from './requirements/bridge-requirements.ts';
import { drawings } from './requirements/drawings-requirements.ts';
import { budgets } from './requirements/budgets-requirements.ts';
import { collections } from './requirements/collections-requirements.ts';
import { push } from './requirements/push-requirements.ts';
import { hooks } from './requirements/hooks-requirements.ts';
import { projects } from './requirements/projects-requirements.ts';
import { drivenBrowser } from './requirements/browser-requirements.ts';
import { canvas } from './requirements/canvas-requirements.ts';
import { capabilities } from './requirements/capabilities-requirements.ts';
import { channels } from './requirements/channels-requirements.ts';
import { chat } from './requirements/chat-requirements.ts';
import { cli } from './requirements/cli-requirements.ts';
import { compaction } from './requirements/compaction-requirements.ts';
import { configFile } from './requirements/config-file-requirements.ts';
import { filesMirror } from './requirements/files-mirror-requirements.ts';
import { discovery } from './requirements/discovery-requirements.ts';
import { desktopCapture } from './requirements/desktop-requirements.ts';
import { devices } from './requirements/devices-requirements.ts';
import { cron } from './requirements/cron-requirements.ts';
import { dreaming } from './requirements/dreaming-requirements.ts';
import { icons } from './requirements/icons-requirements.ts';
import { incognito } from './requirements/incognito-requirements.ts';
import { interfaceTables } from './requirements/interface-requirements.ts';
import { keys } from './requirements/keys-requirements.ts';
import { mcp } from './requirements/mcp-requirements.ts';
import { oauth } from './requirements/oauth-requirements.ts';
import { operations } from './requirements/operations-requirements.ts';
import { mcpServer } from './requirements/mcp-server-requirements.ts';
import { localModels } from './requirements/local-models-requirements.ts';
import { memory } from './requirements/memory-requirements.ts';
import { memoryBrowser } from './requirements/memory-browser-requirements.ts';
import { logs } from './requirements/logs-requirements.ts';
import { exec } from './requirements/exec-requirements.ts';
import { provenance } from './requirements/provenance-requirements.ts';
import { protocol } from './requirements/protocol-requirements.ts';
import { reading } from './requirements/reading-requirements.ts';
import { recall } from './requirements/recall-requirements.ts';
import { media } from './requirements/media-requirements.ts';
import { responses } from './requirements/responses-requirements.ts';
import { secrets } from './requirements/secrets-requirements.ts';
import { sources } from './requirements/sources-requirements.ts';
import { service } from './requirements/service-requirements.ts';
import { subAgents } from './requirements/sub-agents-requirements.ts';
import { search } from './requirements/search-requirements.ts';
import { smallWork } from './requirements/small-work-requirements.ts';
import { providers } from './requirements/providers-requirements.ts';
import { cluster } from './requirements/cluster-requirements.ts';
import { vault } from './requirements/vault-requirements.ts';
import { vaults } from './requirements/vaults-requirements.ts';
import { wiki } from './requirements/wiki-requirements.ts';
import { wikiGateway } from './requirements/wiki-gateway-requirements.ts';
import { workbench } from './requirements/workbench-requirements.ts';
import type { Requirement, Section } from './requirements/requirement.ts';

type ExtractId<S> = S extends Section<infer Id> ? Id : never;
const sections = [
  ...protocol,
  ...provenance,
  ...interfaceTables,
  ...chat,
  ...incognito,
  ...smallWork,
  ...subAgents,
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
  ...sources,
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
  ...budgets,
  ...push,
  ...hooks,
  ...collections,
  ...projects,
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
type RequirementId = ExtractId<(typeof sections)[number]>;

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
