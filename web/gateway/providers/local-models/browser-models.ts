import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Fetch } from '../../ports/fetch.ts';
import type { LocalRunner } from '../local-runner.ts';

export interface BrowserDownloadRequest {
  /** `<owner>/<name>` */
  repo: string;
  filename?: string | undefined;
  /** URL of the hub. */
  hub: string;
  fetch: Fetch;
  /** Called with each origin before a request to it. */
  onRequest(origin: string): void;
  signal: AbortSignal;
  onprogress(progress: { file: string; received: number; total: number }): void;
  now(): number;
}

/** Models stored in this browser, run by workers of its pages. */
export interface BrowserModels extends LocalRunner {
  transcribe: NonNullable<LocalRunner['transcribe']>;
  /** Downloads the missing files of a model. Resolves with its id; rejects with an error message for users. */
  download(request: BrowserDownloadRequest): Promise<string>;
  /** Incomplete models, with sizes in bytes. */
  listUnfinished(): Promise<{ repo: string; received: number; total: number }[]>;
  /** Deletes a model's files. Resolves with their size in bytes, or null if the model does not exist. */
  remove(id: string): Promise<number | null>;
}

const rejectUnavailable = (): Promise<never> =>
  Promise.reject(new RpcError('INTERNAL_ERROR', 'No browser is available to store and run models.'));

/** For environments without a browser. */
export const noBrowserModels: BrowserModels = {
  unsupported: [],
  list: async () => [],
  listUnfinished: async () => [],
  remove: async () => null,
  download: rejectUnavailable,
  generate: rejectUnavailable,
  embed: rejectUnavailable,
  transcribe: rejectUnavailable,
};
