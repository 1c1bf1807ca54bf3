import type { ExternalDeps } from '../host/host-options.ts';
import { createDemoBridge } from './demo-bridge.ts';
import { createDemoFetch } from './demo-fetch.ts';
import { seedDemo } from './seed-demo.ts';

/** The demo's environment: a scripted model, a made-up machine, and no network. */
export const createDemoDeps = (): ExternalDeps => ({ bridge: createDemoBridge(), fetch: createDemoFetch(), seed: seedDemo });
