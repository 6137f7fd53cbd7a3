"""A switched cluster on one machine: nodes and switches are Linux namespaces, links are shaped veth pairs."""
