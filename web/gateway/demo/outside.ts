import type { Outside } from '../host/outside.ts';
import { demoBridge } from './bridge.ts';
import { demoFetch } from './fetch.ts';
import { seed } from './seed.ts';

/** The world of the demo: a model that follows a script, a machine that is made up, and no network at all. */
export const demoOutside = (): Outside => ({ bridge: demoBridge(), fetch: demoFetch(), seed });
