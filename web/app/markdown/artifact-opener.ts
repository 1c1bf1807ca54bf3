import { getContext, setContext } from 'svelte';
import type { ArtifactKind } from './artifacts.ts';

/** Request to show code of a reply. `from`: the element that gets the focus back; without one, the message field. */
export interface ArtifactRequest {
  kind: ArtifactKind;
  name: string | null;
  code: string;
  from?: HTMLElement;
}

type ArtifactOpener = (request: ArtifactRequest) => void;

const KEY = Symbol('artifacts');

/** Sets the function that opens artifacts for components inside the caller (Svelte context). */
export const setArtifactOpener = (opener: ArtifactOpener): void => void setContext(KEY, opener);

/** Returns the function that opens artifacts; undefined if the page has no panel for them. */
export const getArtifactOpener = (): ArtifactOpener | undefined => getContext<ArtifactOpener | undefined>(KEY);
