// Exports for other features.
import { withMessages } from '#app/i18n/load-messages.ts';

export { default as ForgetButton } from './ForgetButton.svelte';

/** Card of an agent's proposal. */
export const loadForgetProposal = () => withMessages(import('./ForgetProposal.svelte'));
