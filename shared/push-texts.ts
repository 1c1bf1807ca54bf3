/** Texts of push notifications. */
export interface PushTexts {
  /** Titles. */
  approval: string;
  message: string;
  test: string;
  /** Text of a test notification. */
  testBody: string;
  /** Buttons. */
  approve: string;
  deny: string;
  /** Results of a button. */
  closed: string;
  unreachable: string;
}

/** Texts for channels, and for devices whose app has not stored them in its language. */
export const ENGLISH_PUSH_TEXTS: PushTexts = {
  approval: 'Approval needed',
  message: 'Perch',
  test: 'Perch',
  testBody: 'Push notifications work on this device.',
  approve: 'Allow once',
  deny: 'Deny',
  closed: 'This request is no longer open.',
  unreachable: 'Perch can’t be reached. Open it to decide.',
};
