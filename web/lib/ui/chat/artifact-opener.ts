import { getContext, setContext } from 'svelte';
import type { ArtifactAsked } from '#lib/state/artifact-view.svelte.ts';

type Opener = (asked: ArtifactAsked) => void;

const KEY = Symbol('artifacts');

/** Within what calls this, code of artifacts can be opened. */
export const opensArtifacts = (opener: Opener): void => void setContext(KEY, opener);

/** Undefined where there is no place for artifacts. */
export const artifactOpener = (): Opener | undefined => getContext<Opener | undefined>(KEY);
