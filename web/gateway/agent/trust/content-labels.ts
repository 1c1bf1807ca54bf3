import type { ContentLabel } from '../../storage/records/content-label.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { ToolContext } from '../tools/tool-registry.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { mergeSources } from './content-sources.ts';

/** Kinds of content whose label is a record of its own. */
type LabelledKind = ReviewedKind | 'reply';

/** Kinds of labelled content that a person reviews. */
export type ReviewedKind = 'file' | 'memory' | 'plan' | 'drawing';

/** How links in content are opened: if it has `outside` sources, only `quotedUrls` open without asking. */
interface LinkOrigins {
  outside?: string[];
  quotedUrls?: string[];
}

export const REVIEWED_KINDS: readonly ReviewedKind[] = ['file', 'memory', 'plan', 'drawing'];

/** Maximum number of addresses in a label. */
const MAX_QUOTED = 200;

interface ContentLabelsDeps {
  vault: Pick<Vault, 'collection'>;
  clock: Pick<Clock, 'now'>;
  /** Called when a label was added or removed here. */
  changed?: () => void;
}

/** Labels of content by kind and name. */
export class ContentLabels {
  readonly #deps: ContentLabelsDeps;

  constructor(deps: ContentLabelsDeps) {
    this.#deps = deps;
  }

  /** Outside sources of labelled content; empty if it has no label. */
  async getSources(kind: LabelledKind, name: string): Promise<readonly string[]> {
    return (await this.#store.get(`${kind}:${name}`))?.sources ?? [];
  }

  /** Sources of labelled content and the addresses that it quotes; empty if it has no label. */
  async getLinkOrigins(kind: LabelledKind, name: string): Promise<LinkOrigins> {
    const label = await this.#store.get(`${kind}:${name}`);
    return label ? { outside: label.sources, quotedUrls: label.quotedUrls ?? [] } : {};
  }

  /** Labels whose name starts with `prefix`, by name. */
  async list(kind: LabelledKind, prefix = ''): Promise<Map<string, readonly string[]>> {
    const labels = await this.#store.list(`${kind}:${prefix}`);
    return new Map(labels.map(({ id, sources }) => [id.slice(kind.length + 1), sources]));
  }

  /** Labels of content that a person reviews. */
  async listReviewed(): Promise<ContentLabel[]> {
    return (await Promise.all(REVIEWED_KINDS.map((kind) => this.#store.list(`${kind}:`)))).flat();
  }

  async count(kind: LabelledKind): Promise<number> {
    return (await this.#store.keys(`${kind}:`)).length;
  }

  /** Removes the oldest labels of a kind until `maxCount` are left. */
  async removeOldest(kind: LabelledKind, maxCount: number): Promise<void> {
    const labels = (await this.#store.list(`${kind}:`)).sort((a, b) => b.at - a.at);
    for (const { id } of labels.slice(maxCount)) await this.#store.remove(id);
  }

  /** Adds sources to the label. Call it before writing the content, so that a crash in between never leaves content without its label. */
  async add(kind: LabelledKind, name: string, sources: readonly string[], quotedUrls: readonly string[] = []): Promise<void> {
    if (sources.length === 0) return;
    const id = `${kind}:${name}`;
    const at = this.#deps.clock.now();
    await this.#store.update(id, (before) => {
      const urls = [...new Set([...quotedUrls, ...(before?.quotedUrls ?? [])])].slice(0, MAX_QUOTED);
      return { id, sources: mergeSources(before?.sources, sources), at, ...(urls.length > 0 ? { quotedUrls: urls } : {}) };
    });
    if (kind !== 'reply') this.#deps.changed?.();
  }

  /** Removes a label. False if there was none. */
  async remove(kind: LabelledKind, name: string): Promise<boolean> {
    const removed = await this.#store.remove(`${kind}:${name}`);
    if (removed) this.#deps.changed?.();
    return removed;
  }

  /**
   * Updates labels of files that were replaced from disk: they are the owner's, or get these sources if a command of a tainted run may have
   * written them.
   */
  async replaceFiles(workspace: string, paths: readonly string[], sources: readonly string[]): Promise<void> {
    const labelled = sources.length === 0 ? await this.list('file', `${workspace}/`) : undefined;
    for (const name of paths.map((path) => `${workspace}/${path}`)) {
      if (!labelled) await this.add('file', name, sources);
      else if (labelled.has(name)) await this.remove('file', name);
    }
  }

  get #store() {
    return this.#deps.vault.collection('contentLabels');
  }
}

/** Sources for the label of content written by this call: none in an untainted run, or if a person approved the call. */
export const getLabelSources = ({ taint, isApproved }: Pick<ToolContext, 'taint' | 'isApproved'>): readonly string[] =>
  isApproved === true ? [] : (taint?.sources ?? []);
