import { getContext, setContext } from 'svelte';

const KEY = Symbol('kept nowhere');

/** Marks the content of the calling component as ephemeral (Svelte context): nothing that would store it is offered. */
export const setEphemeral = (): void => void setContext(KEY, true);

export const isEphemeral = (): boolean => getContext<true | undefined>(KEY) === true;
