/** What the host knows of where it runs. */
export interface Environment {
  /** The package's version. */
  release: string;
  host(): 'shared-worker' | 'dedicated-worker' | 'headless';
  /** What people call them: `Chrome 156`, `Linux`. */
  browser: string;
  platform: string;
  /** Whether the browser keeps the data until it is deleted by hand; null where it does not say. */
  persisted(): Promise<boolean | null>;
  /** Bytes; null where the browser does not say. */
  estimate(): Promise<{ usage: number; quota: number } | null>;
}

/** Where nothing is known. */
export const nowhere: Environment = {
  release: '0.0.0',
  host: () => 'dedicated-worker',
  browser: 'unknown',
  platform: 'unknown',
  persisted: async () => null,
  estimate: async () => null,
};
