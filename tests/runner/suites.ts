/**
 * End-to-end tests that `npm test` runs: first answer, streaming, stop, reload while streaming, two tabs, offline and a killed worker (app),
 * `/v1` by the `openai` package and a WebSocket client (clients), approval, one MCP server, memory, wiki, annotate and export, demo, backup,
 * kill and recovery (faults). `test:all` runs all of them.
 */
export const JOURNEYS = [
  'tests/e2e/app.test.ts',
  'tests/e2e/clients.test.ts',
  'tests/e2e/approvals.test.ts',
  'tests/e2e/tool-servers.test.ts',
  'tests/e2e/memory.test.ts',
  'tests/e2e/wiki.test.ts',
  'tests/e2e/annotate.test.ts',
  'tests/e2e/annotate-files.test.ts',
  'tests/e2e/demo.test.ts',
  'tests/e2e/backups-page.test.ts',
  'tests/e2e/faults.test.ts',
];

/**
 * Unit tests that run only in `test:all`: conformance suites, mutated and random inputs, and tests that wait for other processes or for
 * limits and take 10 s or more.
 */
export const LONG_UNIT_TESTS = [
  'bridge/backup/hostile.test.ts',
  'bridge/capabilities/exec/everyday.test.ts',
  'bridge/capabilities/gguf/damaged.test.ts',
  'bridge/capabilities/gguf/gguf-models.test.ts',
  'bridge/capabilities/mcp/mcp-handlers.test.ts',
  'bridge/cli/arguments.test.ts',
  'bridge/cli/backup-actions.test.ts',
  'bridge/cli/import-actions.test.ts',
  'bridge/cli/models-actions.test.ts',
  'bridge/cli/secrets-actions.test.ts',
  'bridge/cli/status-actions.test.ts',
  'bridge/cli/sync-actions.test.ts',
  'bridge/cli/token-actions.test.ts',
  'bridge/cli/vault-key-location.test.ts',
  'bridge/cluster/join-cluster.test.ts',
  'bridge/extras/extra.test.ts',
  'bridge/sync/cluster-session.test.ts',
  'bridge/sync/cluster.test.ts',
  'bridge/sync/doubt.test.ts',
  'bridge/sync/examine.test.ts',
  'bridge/sync/faults.test.ts',
  'bridge/sync/full-and-slow.test.ts',
  'bridge/sync/partitions.test.ts',
  'bridge/sync/permissions.test.ts',
  'bridge/sync/random.test.ts',
  'bridge/sync/shared-journal.test.ts',
  'bridge/sync/three-nodes.test.ts',
  'bridge/sync/ways-in.test.ts',
  'shared/link/mux-fuzz.test.ts',
  'tests/core/codex.test.ts',
  'tests/core/restore-mutated.test.ts',
  'web/gateway/agent/files-mirror/files-mirror-disks.test.ts',
  'web/gateway/agent/files-mirror/files-mirror-random.test.ts',
  'web/gateway/agent/mcp/mcp-calls.test.ts',
  'web/gateway/agent/mcp/mcp-conformance.test.ts',
  'web/gateway/agent/mcp/mcp-hostile.test.ts',
  'web/gateway/agent/mcp/mcp-requests.test.ts',
  'web/gateway/agent/mcp/mcp-scripts.test.ts',
  'web/gateway/agent/mcp/mcp-sdk-1.test.ts',
  'web/gateway/automation/channels/x/x.test.ts',
  'web/gateway/nats/doubt.test.ts',
  'web/gateway/nats/random.test.ts',
  'web/gateway/nats/sharing-faults.test.ts',
  'web/gateway/providers/local-models/gguf.test.ts',
  'web/gateway/server/connection-limits.test.ts',
];

/** The slowest test files, slowest first. They start before all others, so that no file runs alone at the end. */
export const SLOWEST_FIRST = [
  'tests/vault-e2e/chaos.test.ts',
  'tests/vault-e2e/cluster-chaos.test.ts',
  'tests/e2e/update-languages.test.ts',
  'tests/e2e/gallery.test.ts',
  'tests/e2e/artifacts-sandbox.test.ts',
  'tests/e2e/update.test.ts',
  'tests/faults/kill-everything.test.ts',
  'tests/vault-e2e/cluster.test.ts',
  'tests/e2e/app.test.ts',
  'tests/e2e/demo.test.ts',
  'bridge/sync/partitions.test.ts',
  'web/gateway/agent/mcp/mcp-conformance.test.ts',
  'bridge/sync/random.test.ts',
  'web/gateway/agent/mcp/mcp-scripts.test.ts',
  'bridge/sync/three-nodes.test.ts',
  'bridge/sync/full-and-slow.test.ts',
];

/** End-to-end tests of a feature, by its source files. Names of tests omit `tests/e2e/` and `.test.ts`. */
export const FEATURES: readonly [files: RegExp, tests: readonly string[]][] = [
  [/^web\/(features|gateway\/agent)\/(agents|tools)\//, ['agents-page', 'tools-page']],
  [
    /^web\/(paint|canvas|features\/annotate)\/|^shared\/canvas\//,
    ['annotate', 'annotate-excalidraw', 'annotate-files', 'canvas', 'studio'],
  ],
  [/approvals?\b/, ['approvals', 'approvals-page']],
  [/^web\/features\/backups\/|^bridge\/backup\//, ['backups-page']],
  [/^(web\/features\/browser|bridge\/capabilities\/browser)\//, ['browser-page', 'driven-browser']],
  [/^web\/gateway\/(browser-models|providers\/local-models)\//, ['browser-models', 'local-models']],
  [/channels?\//, ['channels', 'channels-page']],
  [/^web\/(features\/chat|app\/markdown)\/|^web\/routes\/\(app\)\/\(chat\)/, ['app', 'chats', 'queue', 'rendering']],
  [/^bridge\/(cli|command-line)/, ['cli', 'completion', 'terminal']],
  [/^web\/gateway\/server\/http\/|^shared\/http\/|^bridge\/(server|passthrough)\//, ['clients', 'responses']],
  [/^bridge\/(sync|cluster)\/|^web\/gateway\/nats\//, ['cluster-browser']],
  [/^web\/(features|gateway\/agent|gateway\/knowledge)\/collections\//, ['collections', 'attaching']],
  [/console\//, ['console-page']],
  [/^web\/gateway\/demo\/|demo/, ['demo']],
  [/devices?\/|pairing/, ['devices', 'pairing-page']],
  [/doctor/, ['doctor', 'doctor-page']],
  [/documents\//, ['documents', 'attaching']],
  [/dream/, ['dreaming']],
  [/^bridge\/headless\/|^web\/gateway\/host\//, ['app', 'faults', 'update']],
  [/\/messages\/|i18n|compile-messages|locale-chunks/, ['languages', 'update-languages']],
  [/incognito/, ['incognito']],
  [/logs?\//, ['logs']],
  [/^docs\/(site|guide)\//, ['guide-site']],
  [/^web\/(gateway\/knowledge|features)\/(memory|recall)\/|^bridge\/library\/|^web\/library\//, ['memory', 'memory-browser']],
  [/mcp|tool-server/, ['tool-servers']],
  [/models?\/|providers\//, ['models-page', 'onboarding', 'clients']],
  [/plans?\//, ['plans-page']],
  [/push/, ['push']],
  [/projects?\//, ['projects']],
  [/prompts?\/|skills\//, ['prompts-page']],
  [/cron|schedules/, ['schedules']],
  [/settings|config/, ['settings']],
  [/^web\/gateway\/storage\/|^bridge\/journal\//, ['faults', 'storage-full', 'outbox']],
  [/speech|voice/, ['voice']],
  [/usage/, ['usage']],
  [/vaults?[-/]/, ['vaults']],
  [/wiki/, ['wiki']],
  [/^(package|vite\.config|bridge\/(build|setup))|^web\/[^/]+\.ts$/, ['app', 'build', 'first-load', 'package']],
  [/^shared\/(rpc|link|client|sync)\//, ['app', 'clients']],
  [/^web\/(app|kit|routes)\/|\.css$/, ['app', 'accessible']],
];

/** End-to-end tests of the features that these files belong to, each once. */
export const findTestsOfFeatures = (files: readonly string[]): string[] => {
  const sources = files.filter((file) => !file.startsWith('tests/') && !file.endsWith('.test.ts') && !file.endsWith('.md'));
  const names = FEATURES.filter(([pattern]) => sources.some((file) => pattern.test(file))).flatMap(([, tests]) => tests);
  return [...new Set(names)].map((name) => `tests/e2e/${name}.test.ts`);
};
