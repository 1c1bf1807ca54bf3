/** Facts about the environment that the host runs in. */
export interface Environment {
  /** Version of the package. */
  release: string;
  host(): 'shared-worker' | 'dedicated-worker' | 'headless';
  /** Display names of the browser and the platform, such as `Chrome 156` and `Linux`. */
  browser: string;
  platform: string;
  /** Whether the browser's storage is persistent; null if unknown. */
  persisted(): Promise<boolean | null>;
  /** In bytes; null if unknown. */
  estimate(): Promise<{ usage: number; quota: number } | null>;
}

/** An environment about which nothing is known. */
export const unknownEnvironment: Environment = {
  release: '0.0.0',
  host: () => 'dedicated-worker',
  browser: 'unknown',
  platform: 'unknown',
  persisted: async () => null,
  estimate: async () => null,
};
