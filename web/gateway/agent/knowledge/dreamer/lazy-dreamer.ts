import { lazy } from '#shared/async/lazy.ts';
import type { Dreamer, DreamerDeps } from './dreamer.ts';

/** Dreaming, whose code is loaded on first use. */
export const createLazyDreamer = (deps: DreamerDeps): (() => Promise<Dreamer>) =>
  lazy(async () => new (await import('./dreamer.ts')).Dreamer(deps));
