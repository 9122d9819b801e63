-- title = "Whether one event is most of a sum"
-- doc = """The macro `one_event(thing, most_ns, all_ns, n_steps)`: a low confidence where the longest is most of all,
-- and nothing tells that it comes again; else NULL. Of few steps one has a large part anyway."""
CREATE OR REPLACE MACRO one_event(thing, most_ns, all_ns, n_steps) AS
    if(most_ns > (0.5 + if(n_steps < 2, 0, 0.5 / n_steps)) * all_ns,
        format('low: one {} of {:.3f} ms is most of it, {}', thing, most_ns / 1e6, if(n_steps < 2,
            'and without a second step nothing tells what comes again', format('once in {} steps', n_steps))), NULL)
