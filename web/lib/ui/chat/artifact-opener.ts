import { getContext, setContext } from 'svelte';
import type { ArtifactRequest } from '#lib/state/artifact-view.svelte.ts';

type ArtifactOpener = (asked: ArtifactRequest) => void;

const KEY = Symbol('artifacts');

/** Within what calls this, code of artifacts can be opened. */
export const setArtifactOpener = (opener: ArtifactOpener): void => void setContext(KEY, opener);

/** Undefined where there is no place for artifacts. */
export const getArtifactOpener = (): ArtifactOpener | undefined => getContext<ArtifactOpener | undefined>(KEY);
