import { BIRD_CLUB_PAGE } from '#shared/bird-club-page.ts';

/** The page as its server sends it, for a chat that reads from outside. */
export const CLUB_PAGE = {
  url: BIRD_CLUB_PAGE.url,
  text: [BIRD_CLUB_PAGE.title, '', ...BIRD_CLUB_PAGE.lines, ''].join('\n'),
};

/** A file of the owner that the agent wants to change after reading the page. */
export const CHECKLIST = {
  path: 'notes/checklist.md',
  before: '# Checklist for the heron count\n\n- Binoculars\n- Notebook\n',
  after: '# Checklist for the heron count\n\n- Binoculars\n- Notebook\n- A second person\n- Start before 9:00\n',
};

/** The memory that the agent adds. */
export const DEADLINE = 'The bird club wants the numbers by April 15.';
