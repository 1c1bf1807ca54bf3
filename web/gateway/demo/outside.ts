import type { Outside } from '../host/outside.ts';
import { demoBridge } from './bridge.ts';
import { demoFetch } from './fetch.ts';
import { seed } from './seed.ts';

/** The demo's environment: a scripted model, a made-up machine, and no network. */
export const demoOutside = (): Outside => ({ bridge: demoBridge(), fetch: demoFetch(), seed });
