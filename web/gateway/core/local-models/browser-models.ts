import { RpcError } from '#shared/rpc/errors.ts';
import type { Fetch } from '../fetch.ts';
import type { LocalRunner } from '../providers/local-runner.ts';

export interface BrowserDownloadWish {
  /** `<owner>/<name>` */
  repo: string;
  filename?: string | undefined;
  /** URL of the hub. */
  hub: string;
  fetch: Fetch;
  /** Called with each origin before a request to it. */
  asking(origin: string): void;
  signal: AbortSignal;
  onprogress(progress: { file: string; received: number; total: number }): void;
  now(): number;
}

/** Models stored in this browser, run by workers of its pages. */
export interface BrowserModels extends LocalRunner {
  /** Downloads the missing files of a model. Resolves with its id; rejects with an error message for users. */
  download(wish: BrowserDownloadWish): Promise<string>;
  /** Incomplete models, with sizes in bytes. */
  unfinished(): Promise<{ repo: string; received: number; total: number }[]>;
  /** Deletes a model's files. Resolves with their size in bytes, or null if the model does not exist. */
  remove(id: string): Promise<number | null>;
}

const none = (): Promise<never> => Promise.reject(new RpcError('INTERNAL_ERROR', 'No browser is available to store and run models.'));

/** For environments without a browser. */
export const noBrowserModels: BrowserModels = {
  cannot: [],
  list: async () => [],
  unfinished: async () => [],
  remove: async () => null,
  download: none,
  generate: none,
  embed: none,
};
