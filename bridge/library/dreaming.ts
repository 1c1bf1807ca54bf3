// `perch/memory/dreaming` for Node: consolidation of a memory stored in a folder.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DreamingConfig as Config, type DreamingConfigInput } from '../../web/gateway/knowledge/dreaming/dreaming-config.ts';
import { type DreamingOptions, DreamingPhases as Phases } from '../../web/gateway/knowledge/dreaming/dreaming-phases.ts';
import { SIGNALS_FILE, SignalsStore as Signals } from '../../web/gateway/knowledge/dreaming/signals-store.ts';
import { loadSettings } from '../../web/library/load-settings.ts';
import { getSharedWorkspace } from './folder-workspace.ts';

export { type DreamingConfigInput, StorageMode } from '../../web/gateway/knowledge/dreaming/dreaming-config.ts';
export type { DreamingOptions } from '../../web/gateway/knowledge/dreaming/dreaming-phases.ts';
export { type Candidate, PromotionScorer } from '../../web/gateway/knowledge/dreaming/promotion-scorer.ts';
export type { Promotion } from '../../web/gateway/knowledge/dreaming/promotion-log.ts';
export { type DeepReport, DreamingPhase, type LightReport, type RemReport } from '../../web/gateway/knowledge/dreaming/phase-report.ts';
export type { ScoreComponents } from '../../web/gateway/knowledge/dreaming/score-components.ts';
export type { ShortTermSignal } from '../../web/gateway/knowledge/dreaming/signal.ts';
export type { SignalStats } from '../../web/gateway/knowledge/dreaming/signals-store.ts';

const [HIDDEN = ''] = SIGNALS_FILE.split('/');

const openWorkspace = (folder: string) => {
  if (folder.trim() === '') throw new Error('The folder must not be empty');
  return getSharedWorkspace(resolve(folder), [HIDDEN]);
};

/** Settings of dreaming, with names in snake_case or camelCase. */
export class DreamingConfig extends Config {
  /** Reads a YAML file. Rejects with an Error that names the file and the line or setting. */
  static override async fromYaml(
    path: string,
    read: (path: string) => Promise<string> = (file) => readFile(file, 'utf8'),
  ): Promise<DreamingConfig> {
    return loadSettings(path, read, (text) => new DreamingConfig({ ...Config.parseYaml(text) }));
  }
}

/** Short-term signals of the memory in a folder, stored in its `.dreams`. */
export class SignalsStore extends Signals {
  constructor(storeDir: string, options: { now?: () => number; timeZone?: string } = {}) {
    super(openWorkspace(storeDir), options);
  }
}

/** Consolidates the memory in a folder. */
export class DreamingPhases extends Phases {
  constructor(workspaceDir: string, config: Config | DreamingConfigInput | Record<string, unknown> = {}, options: DreamingOptions = {}) {
    super(openWorkspace(workspaceDir), config instanceof Config ? config : new Config(config), options);
  }
}
