import { expect, it } from 'vitest';
import { MODULES } from './modules.ts';
import type { AnyModule } from './system/modules.ts';

const names = new Set<string>(MODULES.map(({ name }) => name));

/** Events that load a module before its first use, as text. */
function describeWaking({ wakeOn }: AnyModule): string {
  const reasons = [
    wakeOn?.if && 'its own condition',
    wakeOn?.changes && `changes of ${wakeOn.changes.join(', ')}`,
    wakeOn?.capability && `the bridge’s ${wakeOn.capability.kind}`,
    wakeOn?.after !== undefined && `${wakeOn.after / 1000} s after the start`,
  ].filter(Boolean);
  return reasons.length > 0 ? reasons.join('; ') : 'use';
}

const lines = MODULES.map((module: AnyModule) => {
  const needs = (module.needs as readonly string[]).filter((need) => names.has(need));
  return `${module.name}${needs.length > 0 ? ` ← ${needs.join(', ')}` : ''} (loaded by ${describeWaking(module)})`;
});

it('modules start in this order: each after those that it needs', () => {
  expect(`\n${lines.join('\n')}\n`).toMatchInlineSnapshot(`
    "
    configFile (loaded by the bridge’s config-file)
    authorizations (loaded by use)
    localModels (loaded by use)
    budgets (loaded by use)
    drawings (loaded by changes of drawings, drawingChanges)
    approvalService (loaded by changes of execRequests, approvals; 1.5 s after the start)
    agentToolkit (loaded by use)
    subAgents (loaded by use)
    provenance (loaded by use)
    filesMirror ← provenance (loaded by the bridge’s files)
    longTermMemories (loaded by use)
    memories ← longTermMemories (loaded by use)
    dailySummaries ← memories, provenance (loaded by use)
    replyRecall ← longTermMemories (loaded by its own condition)
    compactor ← memories, longTermMemories, provenance (loaded by use)
    titles (loaded by use)
    wikis ← provenance (loaded by use)
    trash ← drawings, memories, longTermMemories, wikis (loaded by its own condition)
    forgetting ← memories, longTermMemories, provenance, replyRecall (loaded by its own condition; changes of forgettings)
    webSearch (loaded by use)
    collections (loaded by its own condition; changes of collections, collectionDocuments, collectionTexts)
    dreamer ← memories, provenance (loaded by use)
    guide ← longTermMemories (loaded by use)
    incognito (loaded by use)
    mcp ← approvalService, authorizations (loaded by its own condition)
    runningChannels ← approvalService (loaded by its own condition)
    pushDevices (loaded by use)
    deliveries ← pushDevices, runningChannels (loaded by its own condition; changes of deliveries)
    approvalDeliveries ← approvalService, deliveries, pushDevices, runningChannels (loaded by its own condition)
    cron ← dreamer, dailySummaries, deliveries (loaded by its own condition; changes of jobs)
    hooks ← cron, agentToolkit, deliveries (loaded by its own condition; changes of hooks, hookCalls)
    access ← budgets (loaded by its own condition)
    http ← wikis, agentToolkit, budgets, webSearch, collections (loaded by use)
    "
  `);
  const seen = new Set<string>();
  for (const { name, needs } of MODULES as readonly AnyModule[]) {
    for (const need of needs as readonly string[]) if (names.has(need)) expect(seen, `${name} needs ${need}`).toContain(need);
    seen.add(name);
  }
});
