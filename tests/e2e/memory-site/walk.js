// The samples of the libraries' specification (docs/names.md), run by a page or a worker.
const DAY = 86_400_000;
const lines = (name) => `${name}/.perch-wiki/claims`;

/** @param {any} libraries @param {string} name @param {string} site */
export async function walk({ memory, recall, wiki, dreaming }, name, site) {
  const { MemoryManager, MemoryConfig, MemoryCategory, MemoryAwareRunner, setupMemoryForAgent, createMemoryTools } = memory;
  const { ActiveMemoryRecaller, ActiveRecallConfig, QueryMode, PromptStyle } = recall;
  const { WikiVault, WikiPage, ClaimsManager } = wiki;
  const { SignalsStore, PromotionScorer, DreamingPhases, DreamingConfig, DreamingPhase } = dreaming;
  const seen = {};

  const config = await MemoryConfig.fromYaml(`${site}/memory.yaml`);
  const missing = await MemoryConfig.fromYaml(`${site}/none.yaml`).catch((error) => error.message);
  const wrong = await MemoryConfig.fromYaml(`${site}/wrong.yaml`).catch((error) => error.message);
  seen.config = [config.compaction.maxTokens, missing.replace(site, ''), wrong.replace(site, '').slice(0, 11)];

  const now = Date.now();
  const said = [
    { role: 'user', content: 'Where is the kayak?', id: '1', timestamp: now - 3 * DAY },
    { role: 'assistant', content: 'In the barn.', id: '2', timestamp: now - 3 * DAY + 1 },
  ];
  const manager = await new MemoryManager(name, config, { provider: 'mine', model_id: 'small', base_url: `${site}/v1` }).open();
  await manager.addMemory('Ana has a cat called Miso', MemoryCategory.FACT);
  await manager.addMemory('Ana is allergic to walnuts', MemoryCategory.FACT);
  await manager.setPreference('tone', 'dry');
  await manager.persistDialog(said, 'main');
  const result = manager.checkContext(Array.from({ length: 30 }, (_, at) => ({ role: 'user', content: 'word '.repeat(20), id: `m${at}` })));
  const summary = await manager.generateSummary(said);
  seen.memory = {
    needsCompaction: result.needsCompaction,
    goals: summary.goals,
    preferences: await manager.getAllPreferences(),
    found: (await manager.searchMemory('Which pets?', 1)).map(({ text }) => text),
    dialogs: (await manager.getStats()).dialogs.messages,
    tools: createMemoryTools(manager).map((tool) => tool.name),
  };

  const recaller = new ActiveMemoryRecaller(
    manager,
    new ActiveRecallConfig({ query_mode: QueryMode.RECENT, prompt_style: PromptStyle.BALANCED }),
    name,
  );
  const recalled = await recaller.recall('Which cake may Ana eat, with her allergies?', [{ role: 'user', content: 'Hi' }], 'main');
  seen.recall = [recalled.status, recalled.summary.split('\n')[0], recaller.buildContextMessage(recalled) !== null];
  await manager.close();

  const runner = await new MemoryAwareRunner(name).open();
  const turn = [{ role: 'user', content: 'Third', id: '3', timestamp: now }];
  seen.runner = [
    (await runner.preprocessMessages(turn)).length,
    runner.getTools().length,
    (await runner.getContextForPrompt()).includes('Miso'),
  ];
  await runner.postprocessTurn(turn, 'main');
  await runner.close();
  const set = await setupMemoryForAgent(name);
  seen.setup = [set.tools.length, set.context.includes('- tone: dry'), set.manager.workspaceDir === name];
  await set.manager.close();

  const vault = new WikiVault(`${name}-wiki`);
  await vault.initialize();
  await vault.savePage(new WikiPage({ path: 'entities/miso', title: 'Miso', content: 'A cat. See [[ana]].' }));
  const evidence = [{ source_id: 'chat-1', source_path: 'dialog/2026-11-22.jsonl', lines: '3-4', weight: 0.9 }];
  const old = await vault.claims.addClaim('entities/miso', 'Miso is 3 years old', evidence, ['cat'], 0.7);
  await vault.claims.addClaim('entities/miso', 'Miso is 5 years old', evidence);
  const contradictions = (await vault.claims.findContradictions(old)).length;
  const claims = new ClaimsManager(lines(`${name}-wiki`));
  await claims.supersedeClaim(old.id, 'Miso is 4 years old', 'Her birthday was in May');
  await claims.exportToJsonl('reports/claims.jsonl');
  seen.wiki = [contradictions, (await claims.getClaim(old.id)).status];

  const signals = new SignalsStore(name);
  const source = `dialog/${new Date(now - 3 * DAY).toISOString().slice(0, 10)}.jsonl`;
  const signal = await signals.addSignal('Where is the kayak?', source, 'kayak place', ['boat']);
  await signals.recordConsolidation(signal.contentHash);
  const dreams = new DreamingConfig({ min_score: 0.1, min_recall_count: 1, min_unique_queries: 1, promotion: 'promote' });
  const { score, components } = new PromotionScorer(dreams).scoreSignal(signal);
  const report = await new DreamingPhases(name, dreams).runPhase(DreamingPhase.DEEP);
  seen.dreaming = [score > 0, Object.keys(components.toDict()).length, report.promotedCount];
  return seen;
}

/** Reads the data again later. @param {any} libraries @param {string} name */
export async function again({ memory, wiki, dreaming }, name) {
  const manager = await new memory.MemoryManager(name).open();
  const vault = new wiki.WikiVault(`${name}-wiki`);
  const claims = await new wiki.ClaimsManager(lines(`${name}-wiki`)).listClaims();
  const seen = {
    memories: (await manager.getMemories()).map(({ text }) => text),
    barn: (await manager.searchMemory('Where is the kayak?')).some(({ text }) => text === 'In the barn.'),
    dialogs: (await manager.getStats()).dialogs.messages,
    page: (await vault.getPage('entities/miso')).title,
    claims: claims.map(({ text, status }) => `${text}: ${status}`).sort(),
    signals: await new dreaming.SignalsStore(name).getStats(),
  };
  await manager.close();
  return seen;
}
