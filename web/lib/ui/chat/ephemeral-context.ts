import { getContext, setContext } from 'svelte';

const KEY = Symbol('kept nowhere');

/** Within what calls this, nothing is offered that would keep what is shown. */
export const setEphemeral = (): void => void setContext(KEY, true);

export const isEphemeral = (): boolean => getContext<true | undefined>(KEY) === true;
