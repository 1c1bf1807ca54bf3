import { lazy } from '../lazy.ts';
import type { Dreamer, DreamerDeps } from './dreamer.ts';

/** Dreaming, whose code is fetched when it is wanted. */
export const dreamerLater = (deps: DreamerDeps): (() => Promise<Dreamer>) =>
  lazy(async () => new (await import('./dreamer.ts')).Dreamer(deps));
