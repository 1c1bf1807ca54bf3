import { join } from 'node:path';
import { ESLint } from 'eslint';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';

const eslint = new ESLint({ cwd: join(import.meta.dirname, '../..') });

/** The walls' complaints about a line of code in a file. */
async function lintLine(filePath: string, line: string): Promise<string[]> {
  const [result] = await eslint.lintText(`${line}\n`, { filePath });
  const rules = (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message);
  return rules.filter((rule) => rule === 'no-restricted-imports' || rule === 'import-x/no-restricted-paths' || rule.startsWith('Parsing'));
}

const FORBIDDEN_IMPORTS: [file: string, line: string][] = [
  ['shared/rpc/new.ts', "import 'node:fs';"],
  ['shared/rpc/new.ts', "import 'path';"],
  ['shared/rpc/new.ts', "import '../../web/gateway/system/event-bus.ts';"],
  ['shared/rpc/new.ts', "export * from '../../bridge/home-directory.ts';"],
  ['web/gateway/agent/new.ts', "import 'node:crypto';"],
  ['web/gateway/agent/new.ts', "import 'fs/promises';"],
  ['web/gateway/agent/new.ts', "import 'svelte/store';"],
  ['web/gateway/agent/new.ts', "import type { Home } from '../../../bridge/home-directory.ts';"],
  ['web/gateway/agent/new.ts', "const page = import('../../app/connection/trusted-script-url.ts');"],
  ['web/gateway/storage/new.ts', "import '../host/worker.ts';"],
  ['web/gateway/storage/new.ts', "import type { StreamLine } from '../nats/stream-journal.ts';"],
  ['web/gateway/sync/new.ts', "import '../nats/cluster-sharing-session.ts';"],
  ['web/gateway/ports/new.ts', "import '../nats/cluster-sharing-session.ts';"],
  ['web/gateway/demo/new.ts', "import '../nats/cluster-sharing-session.ts';"],
  ['web/gateway/nats/new.ts', "import '../host/worker.ts';"],
  ['web/gateway/nats/new.ts', "import '../ports/create-fetch.ts';"],
  ['web/gateway/nats/new.ts', "import '../../../bridge/sync/cluster-connection.ts';"],
  ['web/gateway/nats/new.ts', "import 'node:net';"],
  ['shared/sync/nats/new.ts', "import '../../../web/gateway/nats/connect-to-cluster.ts';"],
  ['bridge/sync/new.ts', "import '../../web/gateway/nats/connect-to-cluster.ts';"],
  ['web/app/new.ts', "import '../gateway/system/event-bus.ts';"],
  ['web/app/new.ts', "import '../gateway/host/worker.ts';"],
  ['web/app/new.ts', "import 'node:os';"],
  ['web/routes/new.ts', "import '../gateway/system/event-bus.ts';"],
  ['bridge/server/new.ts', "import '../../web/gateway/system/event-bus.ts';"],
  ['bridge/server/new.ts', "import '../../tests/requirements.ts';"],
  ['bridge/server/new.ts', "import '../../web/gateway/knowledge/memory/memory-message.ts';"],
  ['bridge/new.ts', "import '../web/gateway/knowledge/memory/memory-message.ts';"],
  ['bridge/library/new.ts', "import '../../web/gateway/system/event-bus.ts';"],
  ['bridge/library/new.ts', "import '../../tests/requirements.ts';"],
  ['bridge/library/new.ts', "import '../../web/library/database-workspace.ts';"],
  ['web/library/new.ts', "import 'node:fs';"],
  ['web/library/new.ts', "import '../gateway/system/event-bus.ts';"],
  ['web/library/new.ts', "import '../canvas/stage.ts';"],
  ['web/library/ui/new.ts', "import '../../kit/problems.ts';"],
  ['web/library/ui/new.ts', "import '../../gateway/storage/database.ts';"],
  ['web/library/new.ts', "import '../gateway/storage/open-vault.ts';"],
  ['web/library/new.ts', "import '../../bridge/home-directory.ts';"],
  ['web/gateway/agent/new.ts', "import '../../library/model-config.ts';"],
  ['web/app/new.ts', "import '../library/model-config.ts';"],
  ['web/gateway/agent/new.ts', "import '../../paint/paint-picture.ts';"],
  ['web/paint/new.ts', "import '../canvas/stage.ts';"],
  ['web/paint/new.ts', "import '../gateway/system/event-bus.ts';"],
  ['bridge/server/new.ts', "import 'svelte';"],
  ['web/gateway/storage/new.ts', "import '../config/gateway-config.ts';"],
  ['web/gateway/providers/new.ts', "import type { Agents } from '../agent/agents.ts';"],
  ['web/gateway/agent/new.ts', "import '../automation/cron/cron-service.ts';"],
  ['web/gateway/automation/new.ts', "import '../server/connections.ts';"],
  ['web/gateway/knowledge/new.ts', "import '../storage/database.ts';"],
  ['web/canvas/new.ts', "import '#app/state/demo.ts';"],
  ['web/kit/new.ts', "import '#app/state/demo.ts';"],
  ['web/kit/new.ts', "import '#features/models/index.ts';"],
  ['web/app/new.ts', "import type { Chat } from '#features/chat/chat.svelte.ts';"],
  ['web/app/shell/new.ts', "import '#features/models/index.ts';"],
  ['web/features/wiki/new.ts', "import '#features/models/model-labels.ts';"],
  ['web/features/wiki/new.ts', "import '../tools/servers/McpServerRow.svelte';"],
  ['web/features/wiki/new.ts', "import '../../routes/+layout.ts';"],
];

const ALLOWED_IMPORTS: [file: string, line: string][] = [
  ['shared/rpc/new.ts', "import './zod.ts';"],
  ['web/gateway/agent/new.ts', "import '#shared/rpc/zod.ts';"],
  ['web/gateway/server/http/new.ts', "import './http.ts';"],
  ['web/gateway/storage/new.ts', "import './vault-interface.ts';"],
  ['web/gateway/nats/new.ts', "import '../sync/journal-connection.ts';"],
  ['web/gateway/nats/other.ts', "import '../storage/database.ts';"],
  ['web/gateway/nats/new.ts', "import '#shared/sync/nats/vault-streams.ts';"],
  ['web/gateway/host/new.ts', "import '../nats/cluster-sharing-session.ts';"],
  ['bridge/sync/new.ts', "import '#shared/sync/nats/vault-streams.ts';"],
  ['web/app/new.ts', "import url from '../gateway/host/worker.ts?sharedworker&url';"],
  ['web/kit/new.ts', "import '#app/i18n/locale.ts';"],
  ['web/app/new.ts', "import '#kit/problems.ts';"],
  ['web/features/wiki/new.ts', "import '#features/models/index.ts';"],
  ['web/features/wiki/other/new.ts', "import '../wiki-labels.ts';"],
  ['web/features/wiki/new.ts', "import '#app/state/demo.ts';"],
  ['web/routes/new.ts', "import '#features/wiki/Page.svelte';"],
  ['bridge/server/new.ts', "import 'node:fs';"],
  ['bridge/library/new.ts', "import '../../web/gateway/knowledge/memory/memory-message.ts';"],
  ['bridge/library/new.ts', "import '../../web/library/model-config.ts';"],
  ['web/library/new.ts', "import '../gateway/knowledge/memory/memory-message.ts';"],
  ['web/library/new.ts', "import '../gateway/storage/database.ts';"],
  ['web/library/ui/new.ts', "import '../../canvas/stage.ts';"],
  ['web/library/ui/other.ts', "import '../../paint/export-image.ts';"],
  ['web/gateway/host/new.ts', "import '../../paint/export-image.ts';"],
  ['bridge/server/new.ts', "import '#shared/rpc/zod.ts';"],
  ['bridge/server/new.test.ts', "import '../../tests/requirements.ts';"],
];

verifies(
  'walls/imports',
  'each wall stops what it is for, by relative paths, aliases, types and dynamic imports, and nothing else',
  async () => {
    for (const [file, line] of FORBIDDEN_IMPORTS) expect(await lintLine(file, line), `${file}: ${line}`).not.toEqual([]);
    for (const [file, line] of ALLOWED_IMPORTS) expect(await lintLine(file, line), `${file}: ${line}`).toEqual([]);
  },
);
