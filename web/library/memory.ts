// `perch/memory` for browsers: a memory in IndexedDB (docs/decisions/0039). The version for Node, over a folder, is
// bridge/library/memory.ts.
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import { MemoryConfig as Config, type MemoryConfigInput } from '../gateway/knowledge/memory/memory-config.ts';
import { createFaultTolerantStore } from '../gateway/knowledge/memory/index/fault-tolerant-store.ts';
import { MemoryAwareRunner as Runner, setupMemoryForAgent as setup } from '../gateway/knowledge/memory/memory-aware-runner.ts';
import { MemoryManager as Manager } from '../gateway/knowledge/memory/memory-manager.ts';
import type { CountText } from '../gateway/knowledge/memory/summary/transcript.ts';
import type { Embedder } from '../gateway/knowledge/memory/vectors/passage-vectors.ts';
import type { MemoryTool } from '../gateway/knowledge/memory/tools/memory-tools.ts';
import type { DreamingConfig } from '../gateway/knowledge/dreaming/dreaming-config.ts';
import { createSearchSignals } from '../gateway/knowledge/dreaming/search-signals.ts';
import { DatabaseIndex } from './database-index.ts';
import { SignalsStore } from './dreaming.ts';
import { databaseWorkspace } from './database-workspace.ts';
import { fetchText } from './fetch-text.ts';
import { createComplete, parseModelConfig, type ModelConfigInput, selectSummaryModel } from './model-config.ts';
import { unregisterManager, registerManager } from '../gateway/knowledge/memory/open-managers.ts';
import { loadSettings } from './load-settings.ts';
import { toDatabaseName } from './workspace-database.ts';

export { applyCompaction, checkContext, type ContextCheckResult } from '../gateway/knowledge/memory/compaction/check-context.ts';
export { StructuredSummary, type SummaryFields } from '../gateway/knowledge/memory/compaction/structured-summary.ts';
export { CompactionTrigger } from '../gateway/knowledge/memory/compaction/compaction-trigger.ts';
export {
  CompactionConfig,
  DialogConfig,
  LongTermMemoryConfig,
  SummaryConfig,
  ToolResultConfig,
} from '../gateway/knowledge/memory/config-sections.ts';
export type { FoundMemory } from '../gateway/knowledge/memory/found-memory.ts';
export type { Memory } from '../gateway/knowledge/memory/long-term-file.ts';
export { MemoryCategory } from '../gateway/knowledge/memory/long-term.ts';
export type { MemoryMessage } from '../gateway/knowledge/memory/memory-message.ts';
export type { GivenMessage, OpenAiMessage, OpenAiPart, OpenAiToolCall } from '../gateway/knowledge/memory/openai-message.ts';
export type { Embedder } from '../gateway/knowledge/memory/vectors/passage-vectors.ts';
export type { MemoryStats } from '../gateway/knowledge/memory/memory-stats.ts';
export { createMemoryTools, type MemoryTool } from '../gateway/knowledge/memory/tools/memory-tools.ts';
export { memoryWorkspace, type Workspace, type WorkspaceFile } from '../gateway/knowledge/memory/workspace.ts';
export type { MemoryConfigInput, ModelConfigInput };
export { databaseWorkspace };

/** Settings of a memory, in either spelling. */
export class MemoryConfig extends Config {
  /** Reads a YAML file at a URL. Rejects with an Error that names the URL, and the line or setting. */
  static override async fromYaml(path: string, read: (path: string) => Promise<string> = fetchText): Promise<MemoryConfig> {
    return loadSettings(path, read, (text) => new MemoryConfig({ ...Config.parseYaml(text) }));
  }
}

export interface MemoryOptions {
  /** Counts a text's tokens for the model in use. Default: an estimate. */
  countTokens?: CountText;
  /** Creates vectors of texts, so that memory is also searched by meaning. They are stored in `memory.db`. */
  embedder?: Embedder;
  /** Settings of dreaming. If it is enabled, each search records its results as recalls, for `DreamingPhases` of the same database. */
  dreaming?: Pick<DreamingConfig, 'enabled' | 'timezone'>;
  /** Called with the messages of background failures; `console.warn` by default. */
  warn?: (message: string) => void;
}

/** The memory of agents in a browser database: Markdown and JSON lines like in a folder, and the index `memory.db`, which is built from them. */
export class MemoryManager extends Manager {
  /** The database's name. */
  readonly workspaceDir: string;

  /** Reads and creates nothing before `open`. Throws an Error if the settings or the model are invalid. */
  constructor(
    workspaceDir: string,
    config: Config | MemoryConfigInput | Record<string, unknown> = {},
    model?: ModelConfigInput,
    { countTokens, embedder, dreaming, warn = (message) => console.warn(message) }: MemoryOptions = {},
  ) {
    const name = toDatabaseName(workspaceDir);
    const settings = config instanceof Config ? config : new MemoryConfig(config);
    const ownModel = model && parseModelConfig(model);
    const summaryConfig = selectSummaryModel(ownModel, settings.summary.model);
    // The tables of tokenizers are larger than all other code, so a page estimates tokens for its model's family.
    const family = ownModel && getTokenFamily(`${ownModel.provider}/${ownModel.modelId}`);
    const index = new DatabaseIndex(name);
    const workspace = databaseWorkspace(name);
    super({
      workspace,
      config: settings,
      clock: { now: Date.now },
      complete: summaryConfig && createComplete(summaryConfig),
      countTokens: countTokens ?? (family && ((text) => estimateForFamily(text, family))),
      index: createFaultTolerantStore(index, warn),
      vectors: embedder && { embedder: () => embedder, store: index },
      onSearched:
        dreaming && createSearchSignals(dreaming, { workspace, signals: new SignalsStore(name, { timeZone: dreaming.timezone }) }),
      warn,
    });
    this.workspaceDir = name;
  }

  /** Warns if another manager of this page has the database open. */
  override async open(): Promise<this> {
    registerManager(this.workspaceDir, this, (message) => this.warn(message));
    return super.open();
  }

  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      unregisterManager(this.workspaceDir, this);
    }
  }
}

/** Runs an agent's turns with a memory in a database. */
export class MemoryAwareRunner extends Runner {
  constructor(
    workspaceDir: string,
    model?: ModelConfigInput,
    config: Config | MemoryConfigInput | Record<string, unknown> = {},
    options: MemoryOptions = {},
  ) {
    super(new MemoryManager(workspaceDir, config, model, options));
  }
}

/** Opens a memory in a database. Returns it with the tools to register on an agent and the text for the agent's prompt. The caller closes it. */
export async function setupMemoryForAgent(
  workspaceDir: string,
  model?: ModelConfigInput,
  config: Config | MemoryConfigInput | Record<string, unknown> = {},
  options: MemoryOptions = {},
): Promise<{ manager: MemoryManager; tools: MemoryTool[]; context: string }> {
  const manager = new MemoryManager(workspaceDir, config, model, options);
  return { ...(await setup(manager)), manager };
}
