// `perch/memory` for Node: a memory in a folder. The version for browsers, over IndexedDB, is web/library/memory.ts (condition `browser` of
// the package's exports).
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MemoryConfig as Config, type MemoryConfigInput } from '../../web/gateway/knowledge/memory/memory-config.ts';
import { createFaultTolerantStore } from '../../web/gateway/knowledge/memory/index/fault-tolerant-store.ts';
import { MemoryAwareRunner as Runner, setupMemoryForAgent as setup } from '../../web/gateway/knowledge/memory/memory-aware-runner.ts';
import { MemoryManager as Manager } from '../../web/gateway/knowledge/memory/memory-manager.ts';
import type { CountText } from '../../web/gateway/knowledge/memory/summary/transcript.ts';
import type { Embedder } from '../../web/gateway/knowledge/memory/vectors/passage-vectors.ts';
import type { MemoryTool } from '../../web/gateway/knowledge/memory/tools/memory-tools.ts';
import { folderWorkspace } from './folder-workspace.ts';
import { createComplete, parseModelConfig, type ModelConfigInput, selectSummaryModel } from '../../web/library/model-config.ts';
import { unregisterManager, registerManager } from '../../web/gateway/knowledge/memory/open-managers.ts';
import { loadSettings } from '../../web/library/load-settings.ts';
import type { DreamingConfig } from '../../web/gateway/knowledge/dreaming/dreaming-config.ts';
import { createSearchSignals } from '../../web/gateway/knowledge/dreaming/search-signals.ts';
import { createTokenCounter } from './token-counter.ts';
import { SignalsStore } from './dreaming.ts';
import { SqliteIndex } from './sqlite-index.ts';

export { applyCompaction, checkContext, type ContextCheckResult } from '../../web/gateway/knowledge/memory/compaction/check-context.ts';
export { StructuredSummary, type SummaryFields } from '../../web/gateway/knowledge/memory/compaction/structured-summary.ts';
export { CompactionTrigger } from '../../web/gateway/knowledge/memory/compaction/compaction-trigger.ts';
export {
  CompactionConfig,
  DialogConfig,
  LongTermMemoryConfig,
  SummaryConfig,
  ToolResultConfig,
} from '../../web/gateway/knowledge/memory/config-sections.ts';
export type { FoundMemory } from '../../web/gateway/knowledge/memory/found-memory.ts';
export type { Memory } from '../../web/gateway/knowledge/memory/long-term-file.ts';
export { MemoryCategory } from '../../web/gateway/knowledge/memory/long-term.ts';
export type { MemoryMessage } from '../../web/gateway/knowledge/memory/memory-message.ts';
export type { GivenMessage, OpenAiMessage, OpenAiPart, OpenAiToolCall } from '../../web/gateway/knowledge/memory/openai-message.ts';
export type { Embedder } from '../../web/gateway/knowledge/memory/vectors/passage-vectors.ts';
export type { MemoryStats } from '../../web/gateway/knowledge/memory/memory-stats.ts';
export { createMemoryTools, type MemoryTool } from '../../web/gateway/knowledge/memory/tools/memory-tools.ts';
export { memoryWorkspace, type Workspace, type WorkspaceFile } from '../../web/gateway/knowledge/memory/workspace.ts';
export type { MemoryConfigInput, ModelConfigInput };
export { folderWorkspace };

/** Settings of a memory, with names in snake_case or camelCase. */
export class MemoryConfig extends Config {
  /** Reads a YAML file. Rejects with an Error that names the file and the line or setting. */
  static override async fromYaml(path: string, read: (path: string) => Promise<string> = readText): Promise<MemoryConfig> {
    return loadSettings(path, read, (text) => new MemoryConfig({ ...Config.parseYaml(text) }));
  }
}

const readText = (path: string): Promise<string> => readFile(path, 'utf8');

export interface MemoryOptions {
  /** Counts tokens for the model in use. Default: counts for the model's family, or estimates if there is no model. */
  countTokens?: CountText;
  /** Computes embeddings for semantic search, which are stored in `memory.db`. */
  embedder?: Embedder;
  /** Settings of dreaming. If enabled, each search records its results as recalls for `DreamingPhases` of the same folder. */
  dreaming?: Pick<DreamingConfig, 'enabled' | 'timezone'>;
  /** Called with non-fatal problems. Default: a process warning. */
  warn?: (message: string) => void;
}

/** Agents' memory in a folder: readable Markdown and JSON lines, and `memory.db`, an index generated from them. */
export class MemoryManager extends Manager {
  /** Absolute path. */
  readonly workspaceDir: string;
  readonly #closeIndex: () => void;
  readonly #counterReady: () => Promise<void>;

  /** Reads and creates nothing before `open`. Throws an Error if the settings or the model are invalid. */
  constructor(
    workspaceDir: string,
    config: Config | MemoryConfigInput | Record<string, unknown> = {},
    model?: ModelConfigInput,
    { countTokens, embedder, dreaming, warn = (message) => process.emitWarning(message, 'PerchMemory') }: MemoryOptions = {},
  ) {
    if (workspaceDir.trim() === '') throw new Error('The workspace folder must not be empty');
    const folder = resolve(workspaceDir);
    const settings = config instanceof Config ? config : new MemoryConfig(config);
    const modelConfig = model && parseModelConfig(model);
    const requested = selectSummaryModel(modelConfig, settings.summary.model);
    const counter = modelConfig && createTokenCounter(modelConfig);
    const index = new SqliteIndex(join(folder, 'memory.db'));
    const workspace = folderWorkspace(folder);
    super({
      workspace,
      config: settings,
      clock: { now: Date.now },
      complete: requested && createComplete(requested),
      countTokens: countTokens ?? counter?.count,
      index: createFaultTolerantStore(index, warn),
      vectors: embedder && { embedder: () => embedder, store: index },
      onSearched:
        dreaming && createSearchSignals(dreaming, { workspace, signals: new SignalsStore(folder, { timeZone: dreaming.timezone }) }),
      warn,
    });
    this.workspaceDir = folder;
    this.#closeIndex = () => index.close();
    this.#counterReady = async () => {
      if (!countTokens) await counter?.ready();
    };
  }

  /** Warns if another manager of this process has the folder open. */
  override async open(): Promise<this> {
    registerManager(this.workspaceDir, this, (message) => this.warn(message));
    await this.#counterReady();
    return super.open();
  }

  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      unregisterManager(this.workspaceDir, this);
      this.#closeIndex();
    }
  }
}

/** Runs an agent with a memory in a folder. */
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

/** Opens a memory in a folder. Returns it with the tools to register on an agent and the text for its prompt. The caller closes it. */
export async function setupMemoryForAgent(
  workspaceDir: string,
  model?: ModelConfigInput,
  config: Config | MemoryConfigInput | Record<string, unknown> = {},
  options: MemoryOptions = {},
): Promise<{ manager: MemoryManager; tools: MemoryTool[]; context: string }> {
  const manager = new MemoryManager(workspaceDir, config, model, options);
  return { ...(await setup(manager)), manager };
}
