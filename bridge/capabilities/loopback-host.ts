import { isLoopback } from '../server/admission.ts';

/** Whether a server is on this computer, by its name or address. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, ''));
