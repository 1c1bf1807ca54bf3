// `perch/memory/dreaming` for browsers: consolidation of a memory in IndexedDB (docs/decisions/0038).
import { DreamingConfig as Config, type DreamingConfigInput } from '../gateway/knowledge/dreaming/dreaming-config.ts';
import { type DreamingOptions, DreamingPhases as Phases } from '../gateway/knowledge/dreaming/dreaming-phases.ts';
import { SIGNALS_FILE, SignalsStore as Signals } from '../gateway/knowledge/dreaming/signals-store.ts';
import type { Workspace } from '../gateway/knowledge/memory/workspace.ts';
import { databaseWorkspace } from './database-workspace.ts';
import { fetchText } from './fetch-text.ts';
import { loadSettings } from './load-settings.ts';
import { toDatabaseName } from './workspace-database.ts';

export { type DreamingConfigInput, StorageMode } from '../gateway/knowledge/dreaming/dreaming-config.ts';
export type { DreamingOptions } from '../gateway/knowledge/dreaming/dreaming-phases.ts';
export { type Candidate, PromotionScorer } from '../gateway/knowledge/dreaming/promotion-scorer.ts';
export type { Promotion } from '../gateway/knowledge/dreaming/promotion-log.ts';
export { type DeepReport, DreamingPhase, type LightReport, type RemReport } from '../gateway/knowledge/dreaming/phase-report.ts';
export type { ScoreComponents } from '../gateway/knowledge/dreaming/score-components.ts';
export type { ShortTermSignal } from '../gateway/knowledge/dreaming/signal.ts';
export type { SignalStats } from '../gateway/knowledge/dreaming/signals-store.ts';

const [HIDDEN_DIR = ''] = SIGNALS_FILE.split('/');

/** By name: all classes that work on the same database share one workspace object to take turns. */
const workspaces = new Map<string, Workspace>();

function getWorkspace(storeDir: string): Workspace {
  const name = toDatabaseName(storeDir);
  const workspace = workspaces.get(name) ?? databaseWorkspace(name, { hidden: [HIDDEN_DIR] });
  workspaces.set(name, workspace);
  return workspace;
}

/** Settings of dreaming, in either spelling. */
export class DreamingConfig extends Config {
  /** Reads a YAML file at a URL. Rejects with an Error that names the URL, and the line or setting. */
  static override async fromYaml(path: string, read: (path: string) => Promise<string> = fetchText): Promise<DreamingConfig> {
    return loadSettings(path, read, (text) => new DreamingConfig({ ...Config.parseYaml(text) }));
  }
}

/** The short-term signals of the memory in a database, stored in its `.dreams`. */
export class SignalsStore extends Signals {
  constructor(storeDir: string, options: { now?: () => number; timeZone?: string } = {}) {
    super(getWorkspace(storeDir), options);
  }
}

/** Consolidates the memory in a database. */
export class DreamingPhases extends Phases {
  constructor(workspaceDir: string, config: Config | DreamingConfigInput | Record<string, unknown> = {}, options: DreamingOptions = {}) {
    super(getWorkspace(workspaceDir), config instanceof Config ? config : new Config(config), options);
  }
}
