/** A made-up web page, for a chat that reads from outside. */
export const CLUB_PAGE = {
  url: 'https://birdclub.example/counting-rules',
  text: [
    'Counting rules of the bird club',
    '',
    'Count every nest twice, on different mornings, before 9:00.',
    'Send your numbers by April 15.',
    'Bring binoculars and a second person.',
    '',
  ].join('\n'),
};

/** A file of the owner that the agent wants to change after reading the page. */
export const CHECKLIST = {
  path: 'notes/checklist.md',
  before: '# Checklist for the heron count\n\n- Binoculars\n- Notebook\n',
  after: '# Checklist for the heron count\n\n- Binoculars\n- Notebook\n- A second person\n- Start before 9:00\n',
};

/** The memory that the agent adds. */
export const DEADLINE = 'The bird club wants the numbers by April 15.';
