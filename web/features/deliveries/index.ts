// Exports for other features.
import { withMessages } from '#app/i18n/load-messages.ts';

/** Messages that wait for a person. */
export const loadHeldDeliveryList = () => withMessages(import('./HeldDeliveryList.svelte'));
