import { RpcError } from '#shared/rpc/errors.ts';
import type { Fetch } from '../fetch.ts';
import type { LocalRunner } from '../providers/local-runner.ts';

export interface BrowserDownloadWish {
  /** `<owner>/<name>` */
  repo: string;
  filename?: string | undefined;
  /** The hub's address. */
  hub: string;
  fetch: Fetch;
  /** Told of each origin before it is asked. */
  asking(origin: string): void;
  signal: AbortSignal;
  onprogress(progress: { file: string; received: number; total: number }): void;
  now(): number;
}

/** Models that are kept in this browser, and run by workers that its pages lend. */
export interface BrowserModels extends LocalRunner {
  /** Fetches a model's files, those that are not here. Resolves with its id; rejects with a sentence that says what went wrong. */
  download(wish: BrowserDownloadWish): Promise<string>;
  /** Models of which something is missing. Bytes. */
  unfinished(): Promise<{ repo: string; received: number; total: number }[]>;
  /** Deletes what is kept of a model. Resolves with the bytes that it had, or null where there is no such model. */
  remove(id: string): Promise<number | null>;
}

const none = (): Promise<never> => Promise.reject(new RpcError('INTERNAL_ERROR', 'No browser is available to store and run models.'));

/** Where there never is a browser. */
export const noBrowserModels: BrowserModels = {
  cannot: [],
  list: async () => [],
  unfinished: async () => [],
  remove: async () => null,
  download: none,
  generate: none,
  embed: none,
};
