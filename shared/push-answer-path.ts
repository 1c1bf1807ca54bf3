/** Path at the bridge where a notification's button is answered: it passes the request to the active host. */
export const PUSH_ANSWER_PATH = '/push/answer';
